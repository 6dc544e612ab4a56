import Testing

@testable import SegueCommands

@Suite("A table")
struct TableTests {
    @Test("has columns as wide as their widest entry, and no blanks at its right")
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

    @Test("has numbers flush with the right")
    func numbers() {
        var table = Table("TYPE", "COUNT", "MSG/S", numbersFrom: 1)
        table.append("event.A", "1000000", "9.5")
        #expect(table.lines == ["TYPE       COUNT  MSG/S", "event.A  1000000    9.5"])
    }
}
