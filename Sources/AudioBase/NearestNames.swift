// SPDX-License-Identifier: Apache-2.0

/// Returns up to `count` of the names that were perhaps meant, the closest first: by edit distance (V. Levenshtein, "Binary codes
/// capable of correcting deletions, insertions, and reversals", 1966), or because they begin with the name. Case is ignored.
package func nearestNames(_ name: String, in names: [String], count: Int = 3) -> [String] {
    let wanted = Array(name.lowercased())
    guard !wanted.isEmpty else { return [] }
    let maximumDistance = max(2, wanted.count / 3)
    let ranked = names.compactMap { candidate -> (name: String, rank: Int)? in
        let lowered = Array(candidate.lowercased())
        // The distance is at least the difference of the lengths, so candidates much shorter than the name are not compared.
        guard wanted.count - lowered.count <= maximumDistance else { return nil }
        let distance = editDistance(wanted, lowered)
        return (candidate, lowered.starts(with: wanted) ? min(distance, 1) : distance)
    }
    let near = ranked.filter { $0.rank <= maximumDistance }.sorted { ($0.rank, $0.name) < ($1.rank, $1.name) }
    return near.prefix(count).map(\.name)
}

/// Returns the number of characters to change, insert or remove to turn one text into the other.
package func editDistance(_ a: [Character], _ b: [Character]) -> Int {
    var distances = Array(0...b.count)
    for (i, x) in a.enumerated() {
        var diagonal = distances[0]
        distances[0] = i + 1
        for (j, y) in b.enumerated() {
            let next = min(distances[j] + 1, distances[j + 1] + 1, diagonal + (x == y ? 0 : 1))
            diagonal = distances[j + 1]
            distances[j + 1] = next
        }
    }
    return distances[b.count]
}
