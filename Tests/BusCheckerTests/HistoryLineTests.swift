import BusChecker
import Testing

@Suite("What processes write down")
struct HistoryLineTests {
    @Test(
        "can be read again",
        arguments: [
            .invoked(value(1), document: nil), .invoked(value(2), document: "s1/p1.1.0"), .acknowledged(value(3)),
            .live,
            .delivered(Delivery(offset: 17, stream: "event.ProbeEvent/s1", value: value(4))), .handled(value(5)),
        ] as [HistoryLine])
    func roundTrip(line: HistoryLine) {
        #expect(HistoryLine("\(line)") == line)
    }

    @Test(
        "half a line is none",
        arguments: [
            "", "acknow", "acknowledged", "acknowledged p1", "delivered 17 event.ProbeEvent/s1", "invoked p1/1",
        ])
    func half(line: String) {
        #expect(HistoryLine(line) == nil)
    }
}
