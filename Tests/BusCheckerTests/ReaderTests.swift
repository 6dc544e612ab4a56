import BusChecker
import Testing

@Suite("The checker of what subscribers see")
struct ReaderTests {
    @Test("finds what was passed over, even by one that was killed later")
    func gap() {
        #expect(findings(seeing: [1, 3], isComplete: true) == [.gap(reader: "reader", value(2))])
        #expect(findings(seeing: [2, 3], isComplete: false) == [.gap(reader: "reader", value(1))])
    }

    @Test("who was killed need not have seen the end; who lived must")
    func end() {
        #expect(findings(seeing: [1], isComplete: false) == [])
        #expect(findings(seeing: [1, 2], isComplete: true) == [.gap(reader: "reader", value(3))])
    }

    @Test("finds what came twice")
    func twice() {
        #expect(findings(seeing: [1, 2, 2, 3], isComplete: true) == [.deliveredTwice(reader: "reader", value(2))])
    }

    @Test("finds what came out of its stream's order; streams have none among each other")
    func order() {
        #expect(
            findings(seeing: [2, 1, 3], isComplete: true) == [.deliveredOutOfOrder(reader: "reader", value(1))])
        #expect(findings(seeing: [3, 1, 2], isComplete: true) == [])
    }

    @Test("finds what the journal does not hold, or holds elsewhere")
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

    @Test("a document that was forgotten since may have been seen or not")
    func superseded() {
        for seen in [[1, 2, 3], [2, 3]] {
            var history = history(seeing: seen, isComplete: true)
            history.documents = [value(1): "status", value(2): "status"]
            history.remove(value(1))
            #expect(Checker.findings(in: history) == [])
        }
    }

    @Test("a document that is still in the journal may not be passed over, though a later one is there")
    func notForgotten() {
        var history = history(seeing: [2, 3], isComplete: true)
        history.documents = [value(1): "status", value(2): "status"]
        #expect(Checker.findings(in: history) == [.gap(reader: "reader", value(1))])
    }

    @Test("a document that was seen behind its successor was not superseded by it")
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
