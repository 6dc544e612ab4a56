internal import EventBus
package import Foundation

/// What is in a recording.
package struct RecordingSummary: Sendable {
    /// More than this many lines that are no message are counted only.
    private static let mistakeLimit = 100

    package private(set) var header: RecordingHeader?
    package private(set) var end: RecordingEnd?
    package private(set) var messages = 0
    /// The earliest and the latest time that a message says.
    package private(set) var times: ClosedRange<Date>?
    package private(set) var types: [String: Int] = [:]
    package private(set) var subjects: [String: Int] = [:]
    /// By the processes that published them.
    package private(set) var sources: [String: Int] = [:]
    /// The lines that are no message.
    package private(set) var mistakes: [RecordingMistake] = []
    package private(set) var mistakeCount = 0
    /// The line amid which the file ends.
    package private(set) var cutOffLine: Int?
    private var journals: [UInt64: IndexSet] = [:]

    mutating func add(_ entry: RecordingEntry) {
        switch entry {
        case .header(let header): self.header = self.header ?? header
        case .message(let recorded): add(recorded.message)
        case .end(let end): self.end = end
        case .cutOff(let line): cutOffLine = line
        case .mistake(let mistake):
            mistakeCount += 1
            if mistakes.count < Self.mistakeLimit { mistakes.append(mistake) }
        }
    }

    private mutating func add(_ message: Envelope) {
        messages += 1
        let time = message.attributes.time
        times = times.map { min($0.lowerBound, time)...max($0.upperBound, time) } ?? time...time
        types[message.type.description, default: 0] += 1
        subjects[message.subject, default: 0] += 1
        sources[message.attributes.source, default: 0] += 1
        if let position = message.position, let offset = Int(exactly: position.offset) {
            journals[position.epoch, default: []].insert(offset)
        }
    }

    package enum Completeness: String, Sendable {
        /// It was ended in order, and has as many messages as it says.
        case whole
        /// It was not ended in order: it may lack the last messages.
        case cutOff = "cut off"
        /// It is not what its recorder wrote.
        case damaged
        /// It does not say, as the output of a monitor does not.
        case unknown
    }

    package var completeness: Completeness {
        if mistakeCount > 0 { return .damaged }
        if let end { return end.messages == messages ? .whole : .damaged }
        return header == nil && cutOffLine == nil ? .unknown : .cutOff
    }

    package var duration: Duration {
        times.map { .milliseconds(Int(($0.upperBound.timeIntervalSince($0.lowerBound) * 1000).rounded())) } ?? .zero
    }

    /// How many journals its messages are of.
    package var journalCount: Int { journals.count }

    /// The offsets between its messages that it lacks; nil where some may, for not all were to be recorded.
    package var gaps: [ClosedRange<Int>]? {
        guard header?.hasEveryMessage == true else { return nil }
        return journals.sorted { $0.key < $1.key }.flatMap { _, offsets in
            zip(offsets.rangeView, offsets.rangeView.dropFirst()).map { $0.upperBound...($1.lowerBound - 1) }
        }
    }
}

extension Recording {
    package func summary() async throws -> RecordingSummary {
        var summary = RecordingSummary()
        try await read { entry in
            summary.add(entry)
            return false
        }
        return summary
    }
}
