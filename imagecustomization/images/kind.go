package images

// Kind is what a file is: who reads it, and who hears of that, follows from it.
type Kind int

const (
	// HostImage is the live image of one host.
	HostImage Kind = iota
	// InfraEnvImage is the live image of all hosts of an infra-env. It is not kept
	// over a restart: whoever wants it puts it again.
	InfraEnvImage
	// hostCompanion and infraEnvCompanion are what a machine loads beside its image,
	// such as an iPXE script.
	hostCompanion
	infraEnvCompanion
	// mediumFile is a file of a medium, as kernel and root file system. Anybody
	// may read it.
	mediumFile
	// redirectScript sends every host to its own iPXE script.
	redirectScript
)

// kinds says what follows from each kind.
var kinds = [...]struct {
	// manyReaders are read by any number of hosts at once: the server's limit of
	// readers per image does not hold.
	manyReaders bool
	// manyContents are also found under addresses that stand for another content after a
	// change: their time has to tell the two apart, and cannot be the medium's.
	manyContents bool
	// progress tells watchers how far it was read.
	progress bool
	// kept comes back after a restart.
	kept bool
	// companion is the kind of what is loaded beside it.
	companion Kind
}{
	HostImage:         {progress: true, kept: true, companion: hostCompanion},
	InfraEnvImage:     {manyReaders: true, manyContents: true, progress: true, companion: infraEnvCompanion},
	hostCompanion:     {},
	infraEnvCompanion: {manyReaders: true, manyContents: true},
	mediumFile:        {manyReaders: true},
	redirectScript:    {manyReaders: true},
}
