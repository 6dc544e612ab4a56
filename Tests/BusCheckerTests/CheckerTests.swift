import BusChecker
import Testing

@Suite("Checker of histories")
struct CheckerTests {
    @Test("A correct history has no finding")
    func flawless() {
        #expect(Checker.findings(in: .flawless) == [])
    }

    @Test("A value that was not acknowledged may be in the journal or not")
    func unacknowledged() {
        var history = History.flawless
        history.invoked.formUnion([value(4), value(5)])
        history.append(value(5), at: 9)
        #expect(Checker.findings(in: history) == [])
    }

    @Test("A missing acknowledged value is found")
    func lost() {
        var history = History.flawless
        history.remove(value(2))
        #expect(Checker.findings(in: history).contains(.lost(value(2))))
    }

    @Test("Only values that the copy lacks may be missing after the end of a journal was lost")
    func lostEnd() {
        var history = History.flawless
        history.remove(value(2))
        history.lostEnd = LostEnd(losable: [value(1)], mayRepeatResults: false)
        #expect(Checker.findings(in: history).contains(.lost(value(2))))
        history.lostEnd = LostEnd(losable: [value(2)], mayRepeatResults: false)
        #expect(!Checker.findings(in: history).contains(.lost(value(2))))
    }

    @Test("A result may exist twice if a process may have worked in the ended epoch, but not three times")
    func repeatedResult() {
        var history = History.flawless
        let result = JournalEntry.Content.result(group: "group", input: value(1))
        history.journal.append(JournalEntry(offset: 9, stream: "r", content: result))
        let doubled = Finding.resultDoubled(group: "group", input: value(1), offsets: [4, 9])
        history.lostEnd = LostEnd(losable: [], mayRepeatResults: false)
        #expect(Checker.findings(in: history) == [doubled])
        history.lostEnd = LostEnd(losable: [], mayRepeatResults: true)
        #expect(Checker.findings(in: history) == [])
        history.journal.append(JournalEntry(offset: 10, stream: "r", content: result))
        #expect(!Checker.findings(in: history).isEmpty)
    }

    @Test("A value that was never sent is found")
    func neverSent() {
        var history = History.flawless
        history.append(value(7), at: 9)
        #expect(Checker.findings(in: history) == [.neverSent(value(7), offset: 9)])
    }

    @Test("A duplicate value is found")
    func doubled() {
        var history = History.flawless
        history.journal.append(JournalEntry(offset: 9, stream: "b", content: .value(value(3))))
        #expect(Checker.findings(in: history).contains(.doubled(value(3), offsets: [3, 9])))
    }

    @Test("Two messages with one offset are found")
    func sharedOffset() {
        var history = History.flawless
        history.journal.append(JournalEntry(offset: 3, stream: "c", content: .result(group: "other", input: value(1))))
        #expect(Checker.findings(in: history) == [.sharedOffset(3)])
    }

    @Test("Values of one publisher in the wrong order are found, across streams")
    func disordered() {
        var history = History.flawless
        history.swapOffsets(2, 3)
        #expect(Checker.findings(in: history) == [.disordered(value(2), behind: value(3))])
    }

    @Test("Values of different publishers may have any order")
    func publishers() {
        var history = History.flawless
        let others = [2, 1].map { Value(publisher: "other", sequence: $0) }
        history.invoked.formUnion(others)
        history.append(others[0], at: 9)
        history.append(Value(publisher: "third", sequence: 1), at: 10)
        #expect(Checker.findings(in: history) == [.neverSent(Value(publisher: "third", sequence: 1), offset: 10)])
    }

    @Test("A replaced document may be missing, and the last one may not")
    func superseded() {
        var history = History.flawless
        history.documents = [value(1): "status", value(2): "status"]
        history.remove(value(1))
        #expect(Checker.findings(in: history) == [])
        history.remove(value(2))
        #expect(Checker.findings(in: history).contains(.lost(value(2))))
    }
}

@Suite("Checker of the results of durable consumers")
struct ResultTests {
    @Test("An input without a result is found")
    func missing() {
        var history = History.flawless
        history.journal.removeAll { $0.content == .result(group: "group", input: value(2)) }
        #expect(Checker.findings(in: history) == [.resultMissing(group: "group", input: value(2))])
    }

    @Test("A document that is still in the journal has a result, even if a later one exists")
    func document() {
        var history = History.flawless
        history.documents = [value(1): "status", value(2): "status"]
        history.journal.removeAll { $0.content == .result(group: "group", input: value(1)) }
        #expect(Checker.findings(in: history) == [.resultMissing(group: "group", input: value(1))])
    }

    @Test("A second result is found")
    func doubled() {
        var history = History.flawless
        history.journal.append(JournalEntry(offset: 9, stream: "r", content: .result(group: "group", input: value(2))))
        let expected = Finding.resultDoubled(group: "group", input: value(2), offsets: [5, 9])
        #expect(Checker.findings(in: history) == [expected])
    }

    @Test("Another consumer has its own results")
    func groups() {
        var history = History.flawless
        history.groups.insert("second")
        let missing = (1...3).map { Finding.resultMissing(group: "second", input: value($0)) }
        #expect(Checker.findings(in: history) == missing)
    }

    @Test("A result of a missing input is found")
    func nothing() {
        var history = History.flawless
        history.journal.append(JournalEntry(offset: 9, stream: "r", content: .result(group: "group", input: value(8))))
        #expect(Checker.findings(in: history) == [.resultOfNothing(group: "group", input: value(8), offset: 9)])
    }
}

@Suite("Checker of subscribers")
struct ReaderTests {
    @Test("A missed value is found, even of a subscriber that was killed later")
    func gap() {
        #expect(findings(seeing: [1, 3], isComplete: true) == [.gap(reader: "reader", value(2))])
        #expect(findings(seeing: [2, 3], isComplete: false) == [.gap(reader: "reader", value(1))])
    }

    @Test("A killed subscriber need not receive the end, and a living one must")
    func end() {
        #expect(findings(seeing: [1], isComplete: false) == [])
        #expect(findings(seeing: [1, 2], isComplete: true) == [.gap(reader: "reader", value(3))])
    }

    @Test("A value that was received twice is found")
    func twice() {
        #expect(findings(seeing: [1, 2, 2, 3], isComplete: true) == [.deliveredTwice(reader: "reader", value(2))])
    }

    @Test("A value out of its stream's order is found, and streams have no order among each other")
    func order() {
        #expect(
            findings(seeing: [2, 1, 3], isComplete: true) == [.deliveredOutOfOrder(reader: "reader", value(1))])
        #expect(findings(seeing: [3, 1, 2], isComplete: true) == [])
    }

    @Test("A received value that the journal lacks, or has at another place, is found")
    func otherwise() {
        for delivery in [
            Delivery(offset: 9, stream: "a", value: value(9)), Delivery(offset: 9, stream: "b", value: value(3)),
        ] {
            var history = History.flawless
            history.readers[0].deliveries.removeAll { $0.value == delivery.value }
            history.readers[0].deliveries.append(delivery)
            #expect(Checker.findings(in: history) == [.deliveredOtherwise(reader: "reader", delivery)])
        }
    }

    @Test("A document that was removed since may have been received or not")
    func superseded() {
        for seen in [[1, 2, 3], [2, 3]] {
            var history = history(seeing: seen, isComplete: true)
            history.documents = [value(1): "status", value(2): "status"]
            history.remove(value(1))
            #expect(Checker.findings(in: history) == [])
        }
    }

    @Test("A document that is still in the journal may not be missed, even if a later one exists")
    func notForgotten() {
        var history = history(seeing: [2, 3], isComplete: true)
        history.documents = [value(1): "status", value(2): "status"]
        #expect(Checker.findings(in: history) == [.gap(reader: "reader", value(1))])
    }

    @Test("A removed document that was received after its successor is found")
    func behindSuccessor() {
        var history = history(seeing: [2, 3], isComplete: true)
        history.documents = [value(1): "status", value(2): "status"]
        history.remove(value(1))
        let late = Delivery(offset: 9, stream: "a", value: value(1))
        history.readers[0].deliveries.append(late)
        #expect(Checker.findings(in: history) == [.deliveredOtherwise(reader: "reader", late)])
    }

    private func findings(seeing sequences: [Int], isComplete: Bool) -> [Finding] {
        Checker.findings(in: history(seeing: sequences, isComplete: isComplete))
    }

    private func history(seeing sequences: [Int], isComplete: Bool) -> History {
        var history = History.flawless
        history.readers = [
            Reader(name: "reader", deliveries: sequences.map(History.delivery), isComplete: isComplete)
        ]
        return history
    }
}

@Suite("Records of processes")
struct HistoryLineTests {
    @Test(
        "A record reads back as it was written",
        arguments: [
            .invoked(value(1), document: nil), .invoked(value(2), document: "s1/p1.1.0"),
            .acknowledged(value(3), epoch: .max), .live,
            .delivered(Delivery(offset: 17, stream: "event.ProbeEvent/s1", value: value(4))), .handled(value(5)),
        ] as [HistoryLine])
    func roundTrip(line: HistoryLine) {
        #expect(HistoryLine("\(line)") == line)
    }

    @Test(
        "An incomplete line is ignored",
        arguments: [
            "", "acknow", "acknowledged", "acknowledged p1", "acknowledged p1/1", "delivered 17 event.ProbeEvent/s1",
            "invoked p1/1",
        ])
    func half(line: String) {
        #expect(HistoryLine(line) == nil)
    }
}

func value(_ sequence: Int) -> Value {
    Value(publisher: "publisher", sequence: sequence)
}

extension History {
    /// A history without findings: values 1 and 2 on stream a and 3 on stream b, at the offsets 1 to 3, then their
    /// results, and one reader.
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

    /// Adds a value that was recorded, handled and delivered.
    mutating func append(_ value: Value, at offset: UInt64) {
        journal.append(JournalEntry(offset: offset, stream: "b", content: .value(value)))
        journal.append(JournalEntry(offset: offset + 100, stream: "r", content: .result(group: "group", input: value)))
        readers[0].deliveries.append(Delivery(offset: offset, stream: "b", value: value))
    }

    /// Removes a value from the journal.
    mutating func remove(_ value: Value) {
        journal.removeAll { $0.content == .value(value) }
    }

    /// Exchanges the offsets of two messages in the journal and in the deliveries of readers.
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
