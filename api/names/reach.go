package names

// AskedPath is a path of our hub and our image server, for `ironflow check`: whoever asks for it is always
// answered 410 (Gone). Nobody else's server is taken for ours by that, and an Ironic that is told to fetch it
// has reached us and goes on with nothing.
const AskedPath = "/health/asked"
