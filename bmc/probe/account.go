package probe

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
)

// accounts reads the rules of passwords.
func (p *probe) accounts() {
	f := get[accountService](p, p.root.value.AccountService)
	if !f.read() {
		p.set(f.missing(Accounts, "AccountService"))
		return
	}
	p.report.Accounts = policy(f.value)
	p.accountList = f.value.Accounts
	p.set(yes(Accounts, rules(p.report.Accounts), f.path))
}

// mostLength is more than any BMC takes of a password; what is longer is no limit.
const mostLength = 1024

// policy is what the account service asks of passwords. Numbers below zero are not said.
func policy(s accountService) *v1alpha1.AccountPolicy {
	least := max(s.MinPasswordLength, s.Oem.Hpe.MinPasswordLength, s.Oem.Hp.MinPasswordLength, 0)
	most := max(s.MaxPasswordLength, 0)
	if least > mostLength {
		least = 0
	}
	if most > mostLength || most < least {
		most = 0
	}
	out := &v1alpha1.AccountPolicy{MinPasswordLength: int(least), MaxPasswordLength: int(most)}
	if s.AccountLockoutThreshold.Set && s.AccountLockoutThreshold.Value >= 0 {
		out.LockoutThreshold = new(int64(s.AccountLockoutThreshold.Value))
	}
	if s.AccountLockoutDuration.Set && s.AccountLockoutDuration.Value >= 0 {
		out.LockoutSeconds = new(int64(s.AccountLockoutDuration.Value))
	}
	return out
}

// rules is a policy in words.
func rules(p *v1alpha1.AccountPolicy) string {
	var parts []string
	switch {
	case p.MinPasswordLength > 0 && p.MaxPasswordLength > 0:
		parts = append(parts, fmt.Sprintf("passwords of %d to %d characters", p.MinPasswordLength, p.MaxPasswordLength))
	case p.MinPasswordLength > 0:
		parts = append(parts, fmt.Sprintf("passwords of at least %d characters", p.MinPasswordLength))
	case p.MaxPasswordLength > 0:
		parts = append(parts, fmt.Sprintf("passwords of at most %d characters", p.MaxPasswordLength))
	}
	if p.LockoutThreshold != nil && *p.LockoutThreshold > 0 {
		text := fmt.Sprintf("locked after %d wrong ones", *p.LockoutThreshold)
		if p.LockoutSeconds != nil {
			text += fmt.Sprintf(" for %d s", *p.LockoutSeconds)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// mostAccounts bounds how many accounts are read to find ours.
const mostAccounts = 16

// account looks for the account that we use, if the budget allows: a rotation looks
// for itself.
func (p *probe) account() {
	if p.report.Accounts == nil || p.o.Username == "" || p.budget.left() < 2 {
		return
	}
	listed := getList(p, p.accountList, false)
	if !listed.read() {
		return
	}
	all := links[account](listed.value.members)
	ours := func(f found[account]) bool {
		return string(f.value.UserName) == p.o.Username || path.Base(f.path) == p.o.Username
	}
	order := inOrder(len(all))
	slices.SortStableFunc(order, func(a, b int) int { // named after its user: no other has to be read
		return boolRank(path.Base(all[b].path) == p.o.Username) - boolRank(path.Base(all[a].path) == p.o.Username)
	})
	fill(p, all, order, p.budget.most(mostAccounts), 0, ours)
	for _, f := range all {
		if f.read() && ours(f) {
			p.report.Accounts.Account = local(f.path)
			p.report.Accounts.PasswordChangeRequired = bool(f.value.PasswordChangeRequired)
			return
		}
	}
}

func boolRank(b bool) int {
	if b {
		return 1
	}
	return 0
}
