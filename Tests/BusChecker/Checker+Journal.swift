extension Checker {
    var journalFindings: [Finding] {
        lost + neverSent + doubled + sharedOffsets + disordered
    }

    private var lost: [Finding] {
        history.acknowledged.subtracting(journalled).filter { !isForgotten($0) }.sorted().map(Finding.lost)
    }

    private var neverSent: [Finding] {
        entries.filter { !history.invoked.contains($0.value) }.map { .neverSent($0.value, offset: $0.entry.offset) }
    }

    private var doubled: [Finding] {
        Dictionary(grouping: entries, by: \.value).filter { $1.count > 1 }
            .map { .doubled($0, offsets: $1.map(\.entry.offset)) }
    }

    private var sharedOffsets: [Finding] {
        Dictionary(grouping: history.journal, by: \.offset).filter { $1.count > 1 }.keys.sorted()
            .map(Finding.sharedOffset)
    }

    private var disordered: [Finding] {
        var last: [String: Value] = [:]
        var findings: [Finding] = []
        for (value, _) in entries {
            if let later = last[value.publisher], later.sequence > value.sequence {
                findings.append(.disordered(value, behind: later))
            } else {
                last[value.publisher] = value
            }
        }
        return findings
    }
}
