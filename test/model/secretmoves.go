package model

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// secretMoves happen to the Secret of a host's BMC.
var secretMoves = []move{
	{
		user, "another password in the Secret of", "", always,
		func(w *World, about string) { w.secret(about, "other") },
	},
	{
		user, "an empty password in the Secret of", "", always,
		func(w *World, about string) { w.secret(about, "") },
	},
	{
		user, "the right password in the Secret of", "", always,
		func(w *World, about string) { w.secret(about, "right") },
	},
	{
		user, "the Secret goes of", "", func(w *World, about string) bool { return w.secretOf(w.host(named(about))) != nil },
		func(w *World, about string) {
			w.later(moment)
			key := objectKey{"Secret", named(w.host(named(about)).Spec.BMC.CredentialsName)}
			before := w.objects[key]
			w.remove(key)
			w.wakeFor(key, before, before)
		},
	},
	{
		user, "a new Secret for", "", func(w *World, about string) bool { return w.secretOf(w.host(named(about))) == nil },
		func(w *World, about string) {
			w.later(moment)
			s := newSecret(w.host(named(about)).Spec.BMC.CredentialsName)
			w.put(s)
			w.wakeFor(keyOf(s), s, s)
		},
	},
	{
		user, "a label on the Secret of", "", always,
		func(w *World, about string) {
			w.later(moment)
			w.changeSecret(about, func(s *corev1.Secret) { s.Labels = with(s.Labels, "some", strconv.Itoa(len(s.Labels["some"]))) })
		},
	},
}

// secret changes the password in a host's Secret.
func (w *World) secret(about, password string) {
	w.later(moment)
	w.changeSecret(about, func(s *corev1.Secret) {
		s.Data = map[string][]byte{"username": []byte("admin"), "password": []byte(password)}
	})
}

func (w *World) changeSecret(about string, change func(*corev1.Secret)) {
	key := objectKey{"Secret", named(w.host(named(about)).Spec.BMC.CredentialsName)}
	before, is := w.objects[key].(*corev1.Secret)
	if !is {
		return
	}
	after := before.DeepCopy()
	change(after)
	w.replace(key, after)
	w.wakeFor(key, before, after)
}
