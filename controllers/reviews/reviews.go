// Package reviews asks the API server whose a token is (TokenReview) and what that user
// may do (SubjectAccessReview), and remembers answers for a while. [Client] asks, [Memory]
// remembers.
package reviews

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationclient "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
)

// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// patience is how long the API server may take for all reviews of one question.
const patience = 10 * time.Second

// Client makes reviews. It is safe for concurrent use.
type Client struct {
	tokens authenticationclient.TokenReviewInterface
	access authorizationclient.SubjectAccessReviewInterface
}

// New makes a client of the API server of config.
func New(config *rest.Config, client *http.Client) (*Client, error) {
	authentication, err := authenticationclient.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("client of token reviews: %w", err)
	}
	authorization, err := authorizationclient.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("client of access reviews: %w", err)
	}
	return &Client{authentication.TokenReviews(), authorization.SubjectAccessReviews()}, nil
}

// Limit bounds the time for the reviews of one question.
func Limit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, patience, fmt.Errorf("no answer within %s", patience))
}

// Digest stands for a token where it is remembered.
func Digest(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

// User tells whose the token is; false for nobody's.
func (c *Client) User(ctx context.Context, token string) (authenticationv1.UserInfo, bool, error) {
	who, err := c.tokens.Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	if err != nil {
		return authenticationv1.UserInfo{}, false, fmt.Errorf("token review: %w", err)
	}
	return who.Status.User, who.Status.Authenticated, nil
}

// May tells whether the user may do what the verb says at a path that is no resource's.
func (c *Client) May(ctx context.Context, user authenticationv1.UserInfo, verb, path string) (bool, error) {
	extra := map[string]authorizationv1.ExtraValue{}
	for key, values := range user.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	may, err := c.access.Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: extra,
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: verb},
	}}, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("access review of user %q: %w", user.Username, err)
	}
	return may.Status.Allowed, nil
}
