package ipa

import (
	"errors"
	"fmt"
	"net/http"
)

// Error is the error object of a command: what Ironic reads from command_error
// and, with its text, from a refused request. Type and Message are those of
// the real agent's exception of that name.
type Error struct {
	Type    string `json:"type"`
	Code    int    `json:"code"`
	Message string `json:"message"`
	Details string `json:"details"`
}

// Error is the text that the real agent puts into a refusal's faultstring.
func (e *Error) Error() string { return e.Message + ": " + e.Details }

// The errors that the agent makes itself.
func errInvalidCommand(details string) *Error {
	return &Error{"InvalidCommandError", http.StatusBadRequest, "Invalid command", details}
}

func errInvalidParams(details string) *Error {
	return &Error{"InvalidCommandParamsError", http.StatusBadRequest, "Invalid command parameters", details}
}

func errNotFound(kind, id string) *Error {
	return &Error{"RequestedObjectNotFoundError", http.StatusNotFound, "Not found", fmt.Sprintf("%s with id %s not found.", kind, id)}
}

func errBusy(command string) *Error {
	return &Error{"AgentIsBusy", http.StatusConflict, "Agent is busy", "executing command " + command}
}

func errNoMethod(method string) *Error {
	return &Error{
		"HardwareManagerMethodNotFound", http.StatusInternalServerError,
		"No HardwareManager found to handle method", "Could not find method: " + method,
	}
}

func errVersions(agent, node map[string]string) *Error {
	return &Error{
		"VersionMismatch", http.StatusConflict,
		"Hardware managers version mismatch, reload agent with correct version",
		fmt.Sprintf("Current versions: %v, versions used by ironic: %v", agent, node),
	}
}

// ErrDeployment is a deploy step's failure with the reason that Ironic shows.
func ErrDeployment(reason string) *Error {
	return &Error{"DeploymentError", http.StatusInternalServerError, "Deploy step failed", reason}
}

// ErrCleaning is a clean step's failure with the reason that Ironic shows.
func ErrCleaning(reason string) *Error {
	return &Error{"CleaningError", http.StatusInternalServerError, "Clean step failed", reason}
}

// ErrServicing is a service step's failure with the reason that Ironic shows.
func ErrServicing(reason string) *Error {
	return &Error{"ServicingError", http.StatusInternalServerError, "Service step failed", reason}
}

// ErrUnsupported refuses a command that this agent knows and cannot do.
func ErrUnsupported(command string) *Error {
	return &Error{
		"CommandExecutionError", http.StatusInternalServerError, "Command execution failed",
		command + " is not supported by a simulated machine: it has no disk to write; use the deploy interface custom-agent",
	}
}

// asError makes any failure an error object, as the real agent does.
func asError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{"CommandExecutionError", http.StatusInternalServerError, "Command execution failed", err.Error()}
}
