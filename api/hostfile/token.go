package hostfile

// OwnToken is the content of [HostToken]: a secret.
type OwnToken struct {
	BootID string `json:"boot_id"`
	Token  string `json:"token"`
}
