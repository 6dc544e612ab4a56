import EventBus
import Foundation
import Testing

@Suite("Consumer group, whatever happens")
struct ConsumerGroupHistoryTests {
    @Test(
        "a partition has one owner that records, and what is handled stays handled", arguments: UInt64(0)..<40)
    func history(seed: UInt64) throws {
        var history = ConsumerGroupHistory(seed: seed)
        for step in 0..<300 {
            history.advance()
            let broken = history.brokenPromise()
            #expect(broken == nil, "after step \(step) of seed \(seed)")
            if broken != nil { break }
        }
        // A history in which nothing happens proves nothing.
        #expect(history.recorded > 10 && history.refused > 10)
    }
}
