"""CronJob controller."""
