/// All that happened in one run, as those who took part wrote it down.
package struct History: Sendable {
    /// Every value that was handed to the bus.
    package var invoked: Set<Value> = []
    /// Of the values that are documents: which document. A later value of the same publisher supersedes it.
    package var documents: [Value: String] = [:]
    /// The values that the bus has promised to keep.
    package var acknowledged: Set<Value> = []
    /// What can be read at the end.
    package var journal: [JournalEntry] = []
    /// The durable consumers, each of which has had time to handle everything.
    package var groups: Set<String> = []
    package var readers: [Reader] = []

    package init() {}

    /// Adds what one process wrote.
    package mutating func add(_ lines: [HistoryLine]) {
        for line in lines {
            switch line {
            case .invoked(let value, let document):
                invoked.insert(value)
                documents[value] = document
            case .acknowledged(let value): acknowledged.insert(value)
            case .live, .delivered, .handled: break
            }
        }
    }

    /// The values of the journal with their entries, in the order of the journal.
    var entries: [(value: Value, entry: JournalEntry)] {
        journal.sorted { $0.offset < $1.offset }.compactMap { entry in entry.value.map { ($0, entry) } }
    }
}

/// One line of what a process writes down while it takes part; it is there before the next thing happens.
package enum HistoryLine: Hashable, Sendable {
    /// The value is about to be handed to the bus.
    case invoked(Value, document: String?)
    /// The bus has promised to keep it.
    case acknowledged(Value)
    /// The subscription is live: what follows is of one journal.
    case live
    case delivered(Delivery)
    /// A durable consumer was given the value; its result is not committed yet.
    case handled(Value)

    /// Nil if the line is not whole: a process that is killed may leave half of one.
    package init?(_ line: some StringProtocol) {
        let words = line.split(separator: " ")
        switch (words.first, words.count) {
        case ("invoked", 3):
            guard let value = Value(words[1]) else { return nil }
            self = .invoked(value, document: words[2] == "-" ? nil : String(words[2]))
        case ("acknowledged", 2):
            guard let value = Value(words[1]) else { return nil }
            self = .acknowledged(value)
        case ("live", 1): self = .live
        case ("delivered", 4):
            guard let offset = UInt64(words[1]), let value = Value(words[3]) else { return nil }
            self = .delivered(Delivery(offset: offset, stream: String(words[2]), value: value))
        case ("handled", 2):
            guard let value = Value(words[1]) else { return nil }
            self = .handled(value)
        default: return nil
        }
    }
}

extension HistoryLine: CustomStringConvertible {
    package var description: String {
        switch self {
        case .invoked(let value, let document): "invoked \(value) \(document ?? "-")"
        case .acknowledged(let value): "acknowledged \(value)"
        case .live: "live"
        case .delivered(let delivery): "delivered \(delivery.offset) \(delivery.stream) \(delivery.value)"
        case .handled(let value): "handled \(value)"
        }
    }
}

/// What one message of a test carries, once and never again: `publisher/sequence`.
///
/// A publisher is one sequential writer of one incarnation of a process: its next value waits for the acknowledgement of
/// the last one. So its values have an order that the bus must keep.
package struct Value: Hashable, Sendable {
    package let publisher: String
    package let sequence: Int

    package init(publisher: String, sequence: Int) {
        self.publisher = publisher
        self.sequence = sequence
    }

    /// Reads what ``description`` wrote; nil if it is anything else.
    package init?(_ text: some StringProtocol) {
        guard let slash = text.lastIndex(of: "/"), slash != text.startIndex,
            let sequence = Int(text[text.index(after: slash)...])
        else { return nil }
        self.init(publisher: String(text[..<slash]), sequence: sequence)
    }
}

extension Value: CustomStringConvertible {
    package var description: String { "\(publisher)/\(sequence)" }
}

extension Value: Comparable {
    package static func < (left: Value, right: Value) -> Bool {
        (left.publisher, left.sequence) < (right.publisher, right.sequence)
    }
}

/// A message as the journal has it at the end.
package struct JournalEntry: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// What a publisher sent.
        case value(Value)
        /// What a durable consumer committed for one input.
        case result(group: String, input: Value)
    }

    package let offset: UInt64
    /// The messages among which the bus promises an order to readers: those of one type and subject.
    package let stream: String
    package let content: Content

    package init(offset: UInt64, stream: String, content: Content) {
        self.offset = offset
        self.stream = stream
        self.content = content
    }

    /// What a publisher sent; nil for a result.
    package var value: Value? {
        if case .value(let value) = content { value } else { nil }
    }
}

/// One incarnation of a subscriber that read from the journal's beginning.
package struct Reader: Sendable {
    package let name: String
    /// In the order in which they came.
    package var deliveries: [Delivery]
    /// Whether it lived until all was delivered; what was killed has seen a beginning only.
    package var isComplete: Bool

    package init(name: String, deliveries: [Delivery], isComplete: Bool) {
        self.name = name
        self.deliveries = deliveries
        self.isComplete = isComplete
    }
}

/// A message as a subscriber saw it.
package struct Delivery: Hashable, Sendable {
    package let offset: UInt64
    package let stream: String
    package let value: Value

    package init(offset: UInt64, stream: String, value: Value) {
        self.offset = offset
        self.stream = stream
        self.value = value
    }
}
