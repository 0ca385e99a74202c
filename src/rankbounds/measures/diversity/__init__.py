"""Measures over subtopics: novelty and intents."""
