# Tells keepalived whether the API server of this host answers.
exec curl --insecure --fail --silent --max-time 3 --noproxy '*' --output /dev/null https://127.0.0.1:6443/livez
