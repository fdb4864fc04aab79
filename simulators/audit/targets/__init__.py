"""What is audited: functions, how they are found and called, what they may answer."""
