/// Judges a history after the manner of Jepsen: every acknowledged message exactly once for everybody, in its publisher's
/// order on its subject.
///
/// Each fault is one finding, named at the place where it happened: what the journal lost is not also missed by everybody.
package struct Checker {
    private let history: History
    /// By offset.
    private let journal: [History.Entry]
    private let subjects: [Value: String]
    /// The place of each value in the journal; the first, should it be there twice.
    private let places: [Value: Int]

    package init(_ history: History) {
        self.history = history
        journal = history.journal.sorted { $0.offset < $1.offset }
        subjects = Dictionary(history.invoked.map { ($0.value, $0.subject) }) { first, _ in first }
        places = Dictionary(journal.enumerated().map { ($1.value, $0) }) { first, _ in first }
    }

    package static func findings(in history: History) -> [Finding] {
        Checker(history).findings
    }

    package var findings: [Finding] {
        lost + invented + doubled + collided + reordered
            + history.subscribers.sorted { $0.key < $1.key }.flatMap { judge($1, of: $0) }
            + history.handled.sorted { $0.key < $1.key }.flatMap { judge(handled: $1, by: $0) }
    }

    private var lost: [Finding] {
        history.invoked.map(\.value)
            .filter { history.acknowledged.contains($0) && places[$0] == nil }
            .map(Finding.lost)
    }

    private var invented: [Finding] {
        journal.filter { subjects[$0.value] == nil }.map { .invented($0.value, offset: $0.offset) }
    }

    private var doubled: [Finding] {
        guard places.count < journal.count else { return [] }
        return Dictionary(grouping: journal, by: \.value).values
            .filter { $0.count > 1 }
            .sorted { $0[0].offset < $1[0].offset }
            .map { .doubled($0[0].value, offsets: $0.map(\.offset)) }
    }

    private var collided: [Finding] {
        zip(journal, journal.dropFirst())
            .filter { $0.offset == $1.offset && $0.value != $1.value }
            .map { .collided($0.value, $1.value, offset: $0.offset) }
    }

    private var reordered: [Finding] {
        let first = journal.enumerated().filter { places[$1.value] == $0 }.map(\.element.value)
        return Inversion.all(in: first) { value in
            subjects[value].map { (group: "\(value.publisher) \($0)", rank: value.number) }
        }.map { .reordered(earlier: $0.earlier, later: $0.later) }
    }

    private func judge(_ delivered: [Value], of subscriber: String) -> [Finding] {
        let count = counts(delivered)
        let missed = placed.filter { count[$0] == nil }.map { Finding.missed($0, subscriber: subscriber) }
        let inversions = Inversion.all(in: firsts(of: delivered)) { value in
            places[value].map { (group: subjects[value] ?? "", rank: $0) }
        }
        return missed + unplaced(count).map { .phantom($0, subscriber: subscriber) }
            + repeated(count).map { .repeated($0, subscriber: subscriber) }
            + inversions.map { .misordered(earlier: $0.earlier, later: $0.later, subscriber: subscriber) }
    }

    private func judge(handled: [Value], by consumer: String) -> [Finding] {
        let count = counts(handled)
        return placed.filter { count[$0] == nil }.map { .unhandled($0, consumer: consumer) }
            + unplaced(count).map { .imagined($0, consumer: consumer) }
            + repeated(count).map { .handledTwice($0, consumer: consumer) }
    }

    /// What the journal holds, without what it holds twice and what it invented.
    private var placed: [Value] {
        journal.enumerated().filter { places[$1.value] == $0 && subjects[$1.value] != nil }.map(\.element.value)
    }

    private func unplaced(_ count: [Value: Int]) -> [Value] {
        count.keys.filter { places[$0] == nil }.sorted { $0.description < $1.description }
    }

    /// More often than the journal has it.
    private func repeated(_ count: [Value: Int]) -> [Value] {
        let several = count.filter { $1 > 1 }
        guard !several.isEmpty else { return [] }
        let inJournal = counts(journal.map(\.value))
        return several.filter { $1 > inJournal[$0] ?? 1 }.keys.sorted { $0.description < $1.description }
    }

    private func counts(_ values: [Value]) -> [Value: Int] {
        values.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    private func firsts(of values: [Value]) -> [Value] {
        var seen: Set<Value> = []
        return values.filter { seen.insert($0).inserted }
    }
}
