"""Makes thumbnails from deliveries of the work queue."""
