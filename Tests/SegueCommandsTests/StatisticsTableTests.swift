import Foundation
import Monitor
import Testing

@testable import SegueCommands

@Suite("A table of statistics")
struct StatisticsTableTests {
    @Test(
        "has short numbers",
        arguments: [
            (0.0, "0.0"), (12.34, "12.3"), (999.94, "999.9"), (1000, "1.0k"), (12_345, "12.3k"), (5e6, "5.0M"),
            (2.5e9, "2.5G"),
        ])
    func numbers(number: Double, text: String) {
        #expect(StatisticsTable.short(number) == text)
    }

    @Test(
        "has times no finer than they are known",
        arguments: [(nil, "-"), (0, "<1ms"), (0.9, "<1ms"), (1, "1ms"), (999, "999ms"), (1500, "1.5s")])
    func times(milliseconds: Double?, text: String) {
        #expect(StatisticsTable.time(milliseconds) == text)
    }
}
