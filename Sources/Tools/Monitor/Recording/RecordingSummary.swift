internal import EventBus
package import Foundation

/// A summary of the content of a recording.
package struct RecordingSummary: Sendable {
    /// The maximum number of mistakes that are kept. Further mistakes are only counted.
    private static let mistakeLimit = 100

    /// Nil if the file has no header, like the output of `segue monitor --json`.
    package private(set) var header: RecordingHeader?
    /// Nil if the file has no end, for example because the recorder was killed or because a monitor wrote the file.
    package private(set) var end: RecordingEnd?
    package private(set) var messages = 0
    /// The earliest and the latest time of a message. Nil if there are no messages.
    package private(set) var times: ClosedRange<Date>?
    /// The number of messages of each type.
    package private(set) var types: [String: Int] = [:]
    /// The number of messages of each subject.
    package private(set) var subjects: [String: Int] = [:]
    /// The number of messages of each source.
    package private(set) var sources: [String: Int] = [:]
    /// The names of the coordinators whose flows or states were recorded.
    package private(set) var names = CoordinatorNames()
    /// The first lines that are not valid, at most 100.
    package private(set) var mistakes: [RecordingMistake] = []
    package private(set) var mistakeCount = 0
    /// The number of the last line if the file ends in the middle of this line. Nil if the last line is complete.
    package private(set) var cutOffLine: Int?
    private var journals: Set<UInt64> = []

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
        names.record(message)
        let time = message.attributes.time
        times = times.map { min($0.lowerBound, time)...max($0.upperBound, time) } ?? time...time
        types[message.type.description, default: 0] += 1
        subjects[message.subject, default: 0] += 1
        sources[message.attributes.source, default: 0] += 1
        if let position = message.position { journals.insert(position.epoch) }
    }

    package enum Completeness: String, Sendable {
        /// All lines are valid, and the end has the right number of messages.
        case whole
        /// The end is missing, so the last messages may be missing, too.
        case cutOff = "cut off"
        /// A line is not valid, or the end has another number of messages than the file.
        case damaged
        /// The file has neither a header nor an end, like the output of `segue monitor --json`, so it may be
        /// incomplete.
        case unknown
    }

    package var completeness: Completeness {
        if mistakeCount > 0 { return .damaged }
        if let end { return end.messages == messages ? .whole : .damaged }
        return header == nil && cutOffLine == nil ? .unknown : .cutOff
    }

    /// The time from the earliest to the latest message. Zero if there are no messages.
    package var duration: Duration {
        times.map { .milliseconds(Int(($0.upperBound.timeIntervalSince($0.lowerBound) * 1000).rounded())) } ?? .zero
    }

    /// The number of journals that the messages come from.
    package var journalCount: Int { journals.count }

    /// The types of the messages that are missing, because retention removed them before they were recorded. The values
    /// are the offsets up to which they are missing. Nil if the recorder has not reported this.
    package var missing: [String: UInt64]? { end?.missing }
}

extension RecordingSummary: Encodable {
    private enum CodingKeys: CodingKey {
        case state, since, begun, first, last, duration, messages, journals, missing, types, subjects, sources
        case mistakes, cutOffLine
    }

    /// Encodes the times of the earliest and the latest message as `first` and `last`, and the duration in seconds.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(completeness.rawValue, forKey: .state)
        try container.encodeIfPresent(header?.since, forKey: .since)
        try container.encodeIfPresent(header?.begun, forKey: .begun)
        try container.encodeIfPresent(times?.lowerBound, forKey: .first)
        try container.encodeIfPresent(times?.upperBound, forKey: .last)
        try container.encode(duration / .seconds(1), forKey: .duration)
        try container.encode(messages, forKey: .messages)
        try container.encode(journalCount, forKey: .journals)
        try container.encodeIfPresent(missing, forKey: .missing)
        try container.encode(types, forKey: .types)
        try container.encode(subjects, forKey: .subjects)
        try container.encode(sources, forKey: .sources)
        try container.encode(mistakes, forKey: .mistakes)
        try container.encodeIfPresent(cutOffLine, forKey: .cutOffLine)
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
