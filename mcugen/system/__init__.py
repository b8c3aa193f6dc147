"""Files, processes, packages and plugins of the computer that mcugen runs on."""
