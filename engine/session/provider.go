package session

import (
	"context"
	"encoding/json"

	"weir/engine/wire"
)

// RequestHooks are where extensions look at a provider's requests. A provider calls them for each request: headers, then
// payload, then, when the answer begins, response.
type RequestHooks struct{ extensions Extensions }

// ProviderHooks are the hooks for requests; extensions may be nil.
func ProviderHooks(extensions Extensions) RequestHooks { return RequestHooks{extensions} }

// Headers gives the headers to send; a nil value marks one that must not be sent. An error forbids the request.
func (h RequestHooks) Headers(ctx context.Context, headers []wire.HeaderEdit) ([]wire.HeaderEdit, error) {
	if h.extensions == nil || !h.extensions.Handles(wire.EventBeforeProviderHeaders) {
		return headers, nil
	}
	answer, err := h.extensions.Ask(ctx, wire.BeforeProviderHeadersEvent{Headers: headers})
	if err != nil {
		return nil, err
	}
	edited, _ := answer.([]wire.HeaderEdit)
	return edited, nil
}

// Payload gives the body to send. An error forbids the request.
func (h RequestHooks) Payload(ctx context.Context, payload json.RawMessage) (json.RawMessage, error) {
	if h.extensions == nil || !h.extensions.Handles(wire.EventBeforeProviderRequest) {
		return payload, nil
	}
	answer, err := h.extensions.Ask(ctx, wire.BeforeProviderRequestEvent{Payload: payload})
	if err != nil {
		return nil, err
	}
	edited, _ := answer.(json.RawMessage)
	return edited, nil
}

// Response tells that a provider has begun to answer.
func (h RequestHooks) Response(ctx context.Context, status int, headers map[string]string) {
	if h.extensions != nil {
		if headers == nil {
			headers = map[string]string{} // extensions get an object, as they do from the reference
		}
		h.extensions.Observe(ctx, wire.AfterProviderResponseEvent{Status: status, Headers: headers})
	}
}
