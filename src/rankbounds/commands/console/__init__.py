"""What all commands share: options, help, messages and progress, reading what options name, writing results."""
