/// Compares the promises of the bus with a history. Publishers write unique values, and the journal is read at the end.
///
/// A value that was not acknowledged may be in the journal or not.
package struct Checker {
    private let history: History
    /// The values in the journal, in the order of their offsets.
    private let entries: [(value: Value, entry: JournalEntry)]
    private let journalled: Set<Value>
    /// The last value of each document in the journal.
    private let lastOfDocument: [DocumentID: (sequence: Int, offset: UInt64)]

    private struct DocumentID: Hashable {
        let publisher: String
        let document: String
    }

    /// - Returns: The broken promises; empty if there are none.
    package static func findings(in history: History) -> [Finding] {
        let checker = Checker(history)
        return checker.journalFindings + checker.resultFindings + history.readers.flatMap(checker.findings(of:))
            + (history.navigation?.findings ?? []) + history.timerReplay.findings
    }

    private init(_ history: History) {
        self.history = history
        entries = history.entries
        journalled = Set(entries.map(\.value))
        var last: [DocumentID: (sequence: Int, offset: UInt64)] = [:]
        for (value, entry) in entries {
            guard let document = history.documents[value] else { continue }
            last[DocumentID(publisher: value.publisher, document: document)] = (value.sequence, entry.offset)
        }
        lastOfDocument = last
    }

    /// True if the bus may have removed a value: it was a document that is no longer in the journal, and the journal
    /// contains a later version of the document.
    /// - Parameter offset: The offset of the value, if it is known. The later version must be after it.
    func isForgotten(_ value: Value, at offset: UInt64 = 0) -> Bool {
        guard !journalled.contains(value), let document = history.documents[value],
            let last = lastOfDocument[DocumentID(publisher: value.publisher, document: document)]
        else { return false }
        return last.sequence > value.sequence && last.offset > offset
    }

    var journalFindings: [Finding] {
        lost + neverSent + doubled + sharedOffsets + disordered
    }

    private var lost: [Finding] {
        history.acknowledged.subtracting(journalled).subtracting(history.lostEnd?.losable ?? [])
            .filter { !isForgotten($0) }.sorted().map(Finding.lost)
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

    private struct Result: Hashable {
        let group: String
        let input: Value
    }

    /// Checks that every input in the journal has exactly one result of every group.
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
        if offsets.count > (history.lostEnd?.mayRepeatResults == true ? 2 : 1) {
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

    /// Checks that the messages of each stream that a reader received are the beginning of that stream in the journal,
    /// or all of it if the reader lived to the end.
    func findings(of reader: Reader) -> [Finding] {
        let streams = Dictionary(grouping: entries, by: \.entry.stream)
        let seen = Dictionary(grouping: reader.deliveries, by: \.stream)
        return Set(streams.keys).union(seen.keys).sorted().flatMap { stream in
            compare(seen[stream] ?? [], with: streams[stream] ?? [], reader)
        }
    }

    private func compare(
        _ deliveries: [Delivery], with expected: [(value: Value, entry: JournalEntry)], _ reader: Reader
    ) -> [Finding] {
        let offsets = Dictionary(expected.map { ($0.value, $0.entry.offset) }) { first, _ in first }
        var findings: [Finding] = []
        var seen: Set<Value> = []
        var last: UInt64 = 0
        for delivery in deliveries {
            if !seen.insert(delivery.value).inserted {
                findings.append(.deliveredTwice(reader: reader.name, delivery.value))
            } else if offsets[delivery.value] != delivery.offset, !isForgotten(delivery.value, at: delivery.offset) {
                findings.append(.deliveredOtherwise(reader: reader.name, delivery))
            } else if delivery.offset <= last {
                findings.append(.deliveredOutOfOrder(reader: reader.name, delivery.value))
            }
            last = max(last, delivery.offset)
        }
        let due = expected.prefix { reader.isComplete || $0.entry.offset <= last }
        let missing = due.filter { !seen.contains($0.value) }
        return findings + missing.map { .gap(reader: reader.name, $0.value) }
    }
}

/// A broken promise of the bus.
package enum Finding: Hashable, Sendable {
    // Findings about the journal.
    case lost(Value)
    case neverSent(Value, offset: UInt64)
    case doubled(Value, offsets: [UInt64])
    /// Two messages have the same offset.
    case sharedOffset(UInt64)
    /// A value is in the journal after a later one of the same publisher.
    case disordered(Value, behind: Value)

    // Findings about the results of durable consumers.
    case resultMissing(group: String, input: Value)
    case resultDoubled(group: String, input: Value, offsets: [UInt64])
    case resultOfNothing(group: String, input: Value, offset: UInt64)

    // Findings about subscribers.
    case gap(reader: String, Value)
    case deliveredTwice(reader: String, Value)
    case deliveredOutOfOrder(reader: String, Value)
    /// The journal does not contain the message, or has it at another offset.
    case deliveredOtherwise(reader: String, Delivery)

    // Findings about the sessions that coordinators share.
    /// A coordinator published a revision that is published already, or that no input led to.
    case stateUnexpected(session: String, revision: Int, offset: UInt64)
    /// The state is not that of the replay, or names another input as its cause.
    case stateDiffers(session: String, revision: Int, offset: UInt64)
    case stateMissing(session: String, revision: Int, input: String)
    /// An input waited longer than ``NavigationHistory/waitLimit`` while no fault happened.
    /// - Parameter source: The coordinator that published the state.
    case heldUp(input: String, milliseconds: Int, source: String)
    /// A deadline is still open at the end, or the state still waits for it.
    case deadlineMissed(session: String, deadline: String)
    /// A deadline was recorded twice, or withdrawn without being open.
    case deadlineRepeated(session: String, deadline: String, offset: UInt64)
    case resultRepeated(id: String, offset: UInt64)
    case coordinatorFailed(String)

    // Findings about timers. Each is named by the id of the document that records it.
    /// The command of a publisher neither set a timer nor took one back.
    case timerUnchanged(command: String)
    case timerMissed(String)
    case timerDoubled(String, offsets: [UInt64])
    /// A timer was published that was replaced or taken back before, or that no document recorded.
    case timerNotOpen(String, offset: UInt64)
    case timerEarly(String, milliseconds: Int)
}

extension Finding: CustomStringConvertible {
    package var description: String {
        switch self {
        case .lost(let value): "\(value) was acknowledged and is lost"
        case .neverSent(let value, let offset): "\(value) at offset \(offset) was never sent"
        case .doubled(let value, let offsets): "\(value) is in the journal more than once, at offsets \(offsets)"
        case .sharedOffset(let offset): "two messages have the offset \(offset)"
        case .disordered(let value, let later): "\(value) is in the journal after \(later), which was sent later"
        case .resultMissing(let group, let input): "\(group) has no result for \(input)"
        case .resultDoubled(let group, let input, let offsets):
            "\(group) has more than one result for \(input), at offsets \(offsets)"
        case .resultOfNothing(let group, let input, let offset):
            "\(group) has a result at offset \(offset) for \(input), which is not in the journal"
        case .gap(let reader, let value): "\(reader) did not get \(value)"
        case .deliveredTwice(let reader, let value): "\(reader) got \(value) more than once"
        case .deliveredOutOfOrder(let reader, let value): "\(reader) got \(value) out of order in its stream"
        case .deliveredOtherwise(let reader, let delivery):
            "\(reader) got \(delivery.value) at offset \(delivery.offset) of \(delivery.stream), "
                + "where the journal does not have it"
        case .stateUnexpected(let session, let revision, let offset):
            "session \(session) got revision \(revision) at offset \(offset) a second time, or from no input"
        case .stateDiffers(let session, let revision, let offset):
            "session \(session) has another state at revision \(revision) (offset \(offset)) than a replay"
        case .stateMissing(let session, let revision, let input):
            "session \(session) never got revision \(revision), to which \(input) led"
        case .heldUp(let input, let time, let source):
            "\(input) waited \(time) ms for its state while no fault happened; "
                + "\(NavigationHistory.waitLimit) ms are allowed; \(source) published the state"
        case .deadlineMissed(let session, let deadline): "session \(session) still waits for \(deadline)"
        case .deadlineRepeated(let session, let deadline, let offset):
            "session \(session) opened or closed \(deadline) more than once, at offset \(offset)"
        case .resultRepeated(let id, let offset): "the result \(id) was published again, at offset \(offset)"
        case .coordinatorFailed(let text): "a coordinator failed: \(text)"
        case .timerUnchanged(let command): "the command \(command) neither set a timer nor took one back"
        case .timerMissed(let timer): "the timer \(timer) is still open"
        case .timerDoubled(let timer, let offsets): "the timer \(timer) was published twice, at offsets \(offsets)"
        case .timerNotOpen(let timer, let offset):
            "the timer \(timer) was published at offset \(offset), where it was not open"
        case .timerEarly(let timer, let time): "the timer \(timer) was published \(time) ms before its time"
        }
    }
}
