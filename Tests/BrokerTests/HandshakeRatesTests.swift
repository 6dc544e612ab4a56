import Testing

@testable import Broker

@Suite("The handshakes of users")
struct HandshakeRatesTests {
    @Test("A user who connects without end is slowed down, and the others are not")
    func rates() {
        var rates = HandshakeRates()
        let start = ContinuousClock.now
        func admit(_ user: String, _ count: Int, after seconds: Int = 0) -> Int {
            (0..<count).filter { _ in rates.admit(user, at: start + .seconds(seconds)) }.count
        }
        #expect(admit("a", 5000) == 256)
        #expect(admit("b", 1) == 1)
        #expect(admit("a", 100, after: 2) == 4)
        #expect(admit("a", 5000, after: 3600) == 256)
    }
}
