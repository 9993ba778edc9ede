"""From C++ to a shared object, kept in the user's cache."""
