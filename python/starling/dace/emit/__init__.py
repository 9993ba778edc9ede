"""From statements to C++ against the device API."""
