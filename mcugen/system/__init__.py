"""Files, processes, packages and plugins of the machine that mcugen runs on."""
