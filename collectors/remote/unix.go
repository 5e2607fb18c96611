package remote

// MaxSocketPath is the longest path of a Unix socket on Linux: sun_path has 108
// bytes, the last of which is NUL. Source: unix(7).
const MaxSocketPath = 107
