// Nearby
