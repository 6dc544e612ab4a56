import Foundation
import Monitor
import Testing

@testable import SegueCommands

@Suite("Tables")
struct TableTests {
    @Test("A table has columns as wide as their widest entry, without trailing blanks")
    func columns() {
        var table = Table("SERVICE", "STATE", "NOTE")
        table.append("a", "restarting", "")
        table.append("music-service", "ready", "loads")
        #expect(
            table.lines == [
                "SERVICE        STATE       NOTE",
                "a              restarting",
                "music-service  ready       loads",
            ])
    }

    @Test("A table has one line for each row, whatever its cells contain")
    func control() {
        var table = Table("ID", "REASON")
        table.append("1", "gone\n2  forged\r\u{1B}[2J")
        #expect(table.lines == ["ID  REASON", #"1   gone 2  forged \u001b[2J"#])
    }

    @Test("A table has numbers aligned to the right")
    func numbers() {
        var table = Table("TYPE", "COUNT", "MSG/S", numbersFrom: 1)
        table.append("event.A", "1000000", "9.5")
        #expect(table.lines == ["TYPE       COUNT  MSG/S", "event.A  1000000    9.5"])
    }
}

@Suite("Tables of statistics")
struct StatisticsTableTests {
    @Test(
        "Numbers are short",
        arguments: [
            (0.0, "0.0"), (12.34, "12.3"), (999.94, "999.9"), (1000, "1.0k"), (12_345, "12.3k"), (5e6, "5.0M"),
            (2.5e9, "2.5G"),
        ])
    func numbers(number: Double, text: String) {
        #expect(StatisticsTable.short(number) == text)
    }

    @Test(
        "Times are only as precise as they were measured",
        arguments: [(nil, "-"), (0, "<1ms"), (0.9, "<1ms"), (1, "1ms"), (999, "999ms"), (1500, "1.5s")])
    func times(milliseconds: Double?, text: String) {
        #expect(StatisticsTable.time(milliseconds) == text)
    }
}
