/// The events of one run, as the participating processes recorded them.
package struct History: Sendable {
    /// All values that publishers were about to pass to the bus.
    package var invoked: Set<Value> = []
    /// The document of each value that is a document. A later value of the same publisher and document
    /// replaces it.
    package var documents: [Value: String] = [:]
    /// The values that the bus has promised to keep.
    package var acknowledged: Set<Value> = []
    /// The loss of the end of the journal; nil if nothing may be lost.
    package var lostEnd: LostEnd?
    /// The contents of the journal at the end of the run.
    package var journal: [JournalEntry] = []
    /// The durable consumers. Each of them has had time to handle everything.
    package var groups: Set<String> = []
    package var readers: [Reader] = []
    /// Nil if no coordinators took part.
    package var navigation: NavigationHistory?
    /// The messages about timers, in the order of the journal. Empty if no services with timers took part.
    package var timers: [TimerEntry] = []

    package init() {}

    /// Adds the lines that one process wrote.
    package mutating func add(_ lines: [HistoryLine]) {
        for line in lines {
            switch line {
            case .invoked(let value, let document):
                invoked.insert(value)
                documents[value] = document
            case .acknowledged(let value, epoch: _): acknowledged.insert(value)
            case .live, .delivered, .handled: break
            }
        }
    }

    /// The timers of ``timers`` after the last message.
    package var timerReplay: TimerReplay {
        var replay = TimerReplay()
        for entry in timers { replay.handle(entry) }
        return replay
    }

    /// The values of the journal with their entries, in the order of the journal.
    var entries: [(value: Value, entry: JournalEntry)] {
        journal.sorted { $0.offset < $1.offset }.compactMap { entry in entry.value.map { ($0, entry) } }
    }
}

/// The loss of the end of a journal, of which an older copy was put back. A new epoch begins.
package struct LostEnd: Hashable, Sendable {
    /// The values that may be lost: those that the ended epoch had acknowledged, and that the copy does not contain.
    package let losable: Set<Value>
    /// True if a process may have worked in the ended epoch while it had seen none of the lost messages. What its
    /// durable consumer handled meanwhile is handled once more, so there may be two results.
    package let mayRepeatResults: Bool

    package init(losable: Set<Value>, mayRepeatResults: Bool) {
        (self.losable, self.mayRepeatResults) = (losable, mayRepeatResults)
    }
}

/// One line of the file that a process writes during a run. Each line is written before the process continues.
package enum HistoryLine: Hashable, Sendable {
    /// The value is about to be published.
    case invoked(Value, document: String?)
    /// The bus has acknowledged the value, with a position of this epoch.
    case acknowledged(Value, epoch: UInt64)
    /// The subscription is live: the deliveries after this line are from one journal.
    case live
    case delivered(Delivery)
    /// A durable consumer received the value. Its result is not published yet.
    case handled(Value)

    /// Parses a line. Nil if it is incomplete: a process that is killed may leave an incomplete line.
    package init?(_ line: some StringProtocol) {
        let words = line.split(separator: " ")
        switch (words.first, words.count) {
        case ("invoked", 3):
            guard let value = Value(words[1]) else { return nil }
            self = .invoked(value, document: words[2] == "-" ? nil : String(words[2]))
        case ("acknowledged", 3):
            guard let value = Value(words[1]), let epoch = UInt64(words[2]) else { return nil }
            self = .acknowledged(value, epoch: epoch)
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
        case .acknowledged(let value, let epoch): "acknowledged \(value) \(epoch)"
        case .live: "live"
        case .delivered(let delivery): "delivered \(delivery.offset) \(delivery.stream) \(delivery.value)"
        case .handled(let value): "handled \(value)"
        }
    }
}

/// The unique content of one message of a test: `publisher/sequence`.
///
/// A publisher is one sequential writer in one incarnation of a process: it waits for the acknowledgement of a batch
/// before it publishes the next one. So the bus must keep the order of its values.
package struct Value: Hashable, Sendable {
    package let publisher: String
    package let sequence: Int

    package init(publisher: String, sequence: Int) {
        self.publisher = publisher
        self.sequence = sequence
    }

    /// Parses the form of ``description``; nil if the string has another form.
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

/// A message in the journal at the end of a run.
package struct JournalEntry: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// A value of a publisher.
        case value(Value)
        /// The result of a durable consumer for one input.
        case result(group: String, input: Value)
    }

    package let offset: UInt64
    /// The stream: the type and subject of the message. The bus promises an order to readers only within a stream.
    package let stream: String
    package let content: Content

    package init(offset: UInt64, stream: String, content: Content) {
        self.offset = offset
        self.stream = stream
        self.content = content
    }

    /// The value of the publisher; nil for a result.
    package var value: Value? {
        if case .value(let value) = content { value } else { nil }
    }
}

/// One incarnation of a subscriber that read from the beginning of the journal.
package struct Reader: Sendable {
    package let name: String
    /// The received messages, in the order of their arrival.
    package var deliveries: [Delivery]
    /// True if the process lived until everything was delivered. A process that was killed may have received
    /// only the beginning.
    package var isComplete: Bool

    package init(name: String, deliveries: [Delivery], isComplete: Bool) {
        self.name = name
        self.deliveries = deliveries
        self.isComplete = isComplete
    }
}

/// A message as a subscriber received it.
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
