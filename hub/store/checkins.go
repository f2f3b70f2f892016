package store

import (
	"slices"
	"strings"
)

// checkInsPage is how many check-ins one statement writes. SQLite's driver looks the name of each
// parameter up among all others, so larger pages take longer for a host.
const checkInsPage = 100

// writeCheckIns notes signs of life. The rows come with their hosts, so one of an
// unknown host changes nothing. All programs write in the same order, so that
// they never wait for each other in a circle.
func (t *tx) writeCheckIns(checkIns []CheckIn) error {
	sorted := slices.SortedFunc(slices.Values(checkIns), func(a, b CheckIn) int { return a.Host.Compare(b.Host) })
	for page := range slices.Chunk(sorted, checkInsPage) {
		var given conditions
		var rows []string
		for _, c := range page {
			rows = append(rows, "("+given.mark(c.Host.InfraEnvID)+", "+given.mark(c.Host.HostID)+
				", CAST("+given.mark(unix(c.At))+" AS BIGINT), CAST("+given.mark(c.Clock)+" AS BIGINT))")
		}
		err := t.exec("note check-ins", `UPDATE host_check_ins SET at = given.column3, clock = CASE given.column4 WHEN 0 THEN clock ELSE given.column4 END
			FROM (VALUES `+strings.Join(rows, ", ")+`) AS given
			WHERE infra_env_id = given.column1 AND host_id = given.column2 AND at < given.column3`, given.args...)
		if err != nil {
			return err
		}
	}
	return nil
}
