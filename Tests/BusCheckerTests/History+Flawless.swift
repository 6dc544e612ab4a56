import BusChecker

func value(_ sequence: Int) -> Value {
    Value(publisher: "publisher", sequence: sequence)
}

extension History {
    /// Values 1 and 2 on stream a, 3 on stream b, at offsets of the same number; their results behind them; one reader.
    static var flawless: History {
        var history = History()
        history.invoked = Set((1...3).map(value))
        history.acknowledged = history.invoked
        history.journal = (1...3).map {
            JournalEntry(offset: UInt64($0), stream: stream($0), content: .value(value($0)))
        }
        history.journal += (1...3).map {
            JournalEntry(offset: UInt64($0) + 3, stream: "r", content: .result(group: "group", input: value($0)))
        }
        history.groups = ["group"]
        history.readers = [Reader(name: "reader", deliveries: (1...3).map(delivery), isComplete: true)]
        return history
    }

    static func delivery(_ sequence: Int) -> Delivery {
        Delivery(offset: UInt64(sequence), stream: stream(sequence), value: value(sequence))
    }

    private static func stream(_ sequence: Int) -> String {
        sequence < 3 ? "a" : "b"
    }

    /// Journals, handles and delivers one more value.
    mutating func append(_ value: Value, at offset: UInt64) {
        journal.append(JournalEntry(offset: offset, stream: "b", content: .value(value)))
        journal.append(JournalEntry(offset: offset + 100, stream: "r", content: .result(group: "group", input: value)))
        readers[0].deliveries.append(Delivery(offset: offset, stream: "b", value: value))
    }

    /// Lets the journal forget a value.
    mutating func remove(_ value: Value) {
        journal.removeAll { $0.content == .value(value) }
    }

    /// Exchanges the places of two messages, for readers as well.
    mutating func swapOffsets(_ first: UInt64, _ second: UInt64) {
        func swapped(_ offset: UInt64) -> UInt64 {
            offset == first ? second : offset == second ? first : offset
        }
        journal = journal.map { JournalEntry(offset: swapped($0.offset), stream: $0.stream, content: $0.content) }
        readers[0].deliveries = readers[0].deliveries.map {
            Delivery(offset: swapped($0.offset), stream: $0.stream, value: $0.value)
        }
    }
}
