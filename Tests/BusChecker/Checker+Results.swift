extension Checker {
    private struct Result: Hashable {
        let group: String
        let input: Value
    }

    /// Every input has exactly one result of every group.
    var resultFindings: [Finding] {
        var offsets: [Result: [UInt64]] = [:]
        for entry in history.journal {
            guard case .result(let group, let input) = entry.content else { continue }
            offsets[Result(group: group, input: input), default: []].append(entry.offset)
        }
        return offsets.flatMap(findings) + missing(from: offsets)
    }

    private func findings(of result: Result, at offsets: [UInt64]) -> [Finding] {
        var findings: [Finding] = []
        if offsets.count > 1 {
            findings.append(.resultDoubled(group: result.group, input: result.input, offsets: offsets.sorted()))
        }
        if !journalled.contains(result.input), !isForgotten(result.input), let offset = offsets.first {
            findings.append(.resultOfNothing(group: result.group, input: result.input, offset: offset))
        }
        return findings
    }

    private func missing(from offsets: [Result: [UInt64]]) -> [Finding] {
        history.groups.sorted().flatMap { group in
            journalled.filter { offsets[Result(group: group, input: $0)] == nil }.sorted()
                .map { .resultMissing(group: group, input: $0) }
        }
    }
}
