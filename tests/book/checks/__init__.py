"""What must hold for every notebook, page and built site: functions that return the problems they find."""
