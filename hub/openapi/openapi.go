// Package openapi writes the OpenAPI 2 document of the REST API.
//
// It comes from the tables of hub/protocol, as the Go types and the routes do, so
// that the three cannot differ. The main function is [Document].
package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/hub/protocol"
)

// object is a JSON object of the document.
type object = map[string]any

// schemes are how the kinds of authentication are written; see hub.md of the
// protocol's description.
var schemes = object{
	string(protocol.UserAuth):     apiKey("header", "Authorization"),
	string(protocol.AgentAuth):    apiKey("header", "X-Secret-Key"),
	string(protocol.URLAuth):      apiKey("query", "api_key"),
	string(protocol.ImageAuth):    apiKey("header", "Image-Token"),
	string(protocol.ImageURLAuth): apiKey("query", "image_token"),
	string(protocol.WatcherAuth):  apiKey("header", "Watcher-Authorization"),
}

func apiKey(in, name string) object { return object{"type": "apiKey", "in": in, "name": name} }

// Document returns the OpenAPI 2 document as JSON. The version is the program's.
func Document(version string) ([]byte, error) {
	models, err := protocol.Models()
	if err != nil {
		return nil, err
	}
	operations, err := protocol.Operations()
	if err != nil {
		return nil, err
	}
	definitions := object{}
	for name, m := range models {
		if definitions[name], err = modelSchema(m); err != nil {
			return nil, fmt.Errorf("model %s: %w", name, err)
		}
	}
	paths := map[string]object{}
	for _, op := range operations {
		if paths[op.Path] == nil {
			paths[op.Path] = object{}
		}
		if paths[op.Path][strings.ToLower(op.Method)], err = operation(op); err != nil {
			return nil, fmt.Errorf("operation %s: %w", op.ID, err)
		}
	}
	return json.Marshal(object{
		"swagger": "2.0", "basePath": protocol.Base, "schemes": []string{"http", "https"},
		"info":     object{"title": "AssistedInstall", "description": "Assisted installation", "version": version},
		"consumes": []string{jsonType}, "produces": []string{jsonType},
		"securityDefinitions": schemes, "paths": paths, "definitions": definitions,
	})
}

const (
	jsonType = "application/json"
	fileType = "application/octet-stream"
)

func operation(op protocol.Operation) (object, error) {
	out := object{"operationId": op.ID, "tags": []string{"installer"}, "security": security(op)}
	if op.Deprecated {
		out["deprecated"] = true
	}
	if op.Consumes != "" {
		out["consumes"] = []string{op.Consumes}
	}
	if op.Answer == "file" {
		out["produces"] = []string{fileType}
	}
	var params []object
	for _, p := range op.Params {
		one, err := param(p)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", p.Name, err)
		}
		params = append(params, one)
	}
	if params != nil {
		out["parameters"] = params
	}
	good := object{"description": "Success."}
	if err := answer(good, op); err != nil {
		return nil, err
	}
	responses := object{
		strconv.Itoa(op.Success): good,
		"default":                object{"description": "Error.", "schema": ref("error")},
	}
	if op.Empty != 0 {
		responses[strconv.Itoa(op.Empty)] = object{"description": "Nothing."}
	}
	for _, code := range op.Errors {
		model := "error"
		if code == 401 || code == 403 {
			model = "infra_error"
		}
		responses[strconv.Itoa(code)] = object{"description": "Error.", "schema": ref(model)}
	}
	out["responses"] = responses
	return out, nil
}

func security(op protocol.Operation) []object {
	var out []object
	for _, a := range op.Access {
		roles := a.Roles
		if roles == nil {
			roles = []string{}
		}
		out = append(out, object{string(a.Scheme): roles})
	}
	return out
}

func param(p protocol.Param) (object, error) {
	out := object{"name": p.Name, "in": p.In, "required": p.Required}
	if p.In == "body" {
		schema, err := typeSchema(p.Type)
		out["schema"] = schema
		return out, err
	}
	schema, err := typeSchema(p.Type)
	if err != nil {
		return nil, err
	}
	maps.Copy(out, schema)
	if p.Enum != nil {
		put(out, schema, "enum", p.Enum)
	}
	if p.Default != "" {
		out["default"] = typed(p.Type, p.Default)
	}
	if p.MaxLength != "" {
		out["maxLength"] = json.Number(p.MaxLength)
	}
	if p.Multi {
		out["collectionFormat"] = "multi"
	}
	if p.EmptyIsTrue {
		out["allowEmptyValue"] = true
	}
	return out, nil
}

// put sets a constraint of a text, or of the items of a list of texts.
func put(target, schema object, key string, value any) {
	if items, list := schema["items"].(object); list {
		items[key] = value
		return
	}
	target[key] = value
}

func answer(into object, op protocol.Operation) error {
	if op.Headers != nil {
		headers := object{}
		for _, h := range op.Headers {
			headers[h] = object{"type": "integer"}
		}
		into["headers"] = headers
	}
	switch {
	case op.Answer == "":
		return nil
	case strings.HasPrefix(op.Answer, "object{"):
		properties := object{}
		for member := range strings.FieldsSeq(strings.TrimSuffix(strings.TrimPrefix(op.Answer, "object{"), "}")) {
			name, typ, _ := strings.Cut(member, "=")
			schema, err := typeSchema(typ)
			if err != nil {
				return err
			}
			properties[name] = schema
		}
		into["schema"] = object{"type": "object", "properties": properties}
		return nil
	}
	schema, err := typeSchema(op.Answer)
	into["schema"] = schema
	return err
}
