"""What is wrong with files, why numbers differ, and ties on purpose."""
