import Contracts
import EventBus
import Foundation
import Monitor
import TestSupport
import Testing

@Suite("Statistics")
struct StatisticsTests {
    private let start = Date(timeIntervalSince1970: 1_772_368_496)

    @Test("A percentile is exact to a thirty-second part", arguments: 0..<8)
    func percentiles(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var histogram = LatencyHistogram()
        var values: [Int64] = []
        for _ in 0..<2000 {
            // All magnitudes are equally likely, up to half an hour.
            let value = Int64(
                UInt32.random(in: 0...1_800_000_000, using: &generator) >> UInt32.random(in: 0...30, using: &generator))
            values.append(value)
            histogram.record(.microseconds(value))
        }
        values.sort()
        for percent in [0.1, 1, 50, 90, 99, 99.9, 100] {
            let exact = values[max(1, Int((2000 * percent / 100).rounded(.up))) - 1]
            let told = try #require(histogram.percentile(percent))
            #expect(told >= .microseconds(exact) && told <= .microseconds(exact + exact / 32 + 1), "\(percent)")
        }
        #expect(histogram.percentile(100) == .microseconds(values.last ?? 0))
    }

    @Test("There is a bucket for the shortest and the longest time, and for a negative time")
    func extremes() {
        var histogram = LatencyHistogram()
        #expect(histogram.percentile(50) == nil)
        histogram.record(.seconds(-5))
        #expect(histogram.percentile(100) == .zero)
        histogram.record(.seconds(1_000_000_000))
        #expect(histogram.percentile(100) == .microseconds(UInt32.max))
        for value in 0...200 { histogram.record(.microseconds(value)) }
        #expect(histogram.count == 203)
    }

    @Test("Messages and bytes are counted, with rates since the last report and in total")
    func rates() throws {
        var statistics = MonitorStatistics(start: start)
        for _ in 0..<20 { statistics.record(try .fixed("event.A", "{\"n\":1}"), at: start) }
        statistics.record(try .fixed("command.B", "{}"), at: start)
        let first = statistics.report(after: .seconds(2))
        #expect(first.seconds == 2 && first.types.map(\.type) == ["event.A", "command.B"])
        #expect(first.types[0].count == 20 && first.types[0].rate == 10 && first.types[0].bytesPerSecond == 70)
        for _ in 0..<3 { statistics.record(try .fixed("command.B"), at: start) }
        let second = statistics.report(after: .seconds(3))
        #expect(second.types.map(\.type) == ["command.B", "event.A"], "the most frequent of the moment comes first")
        #expect(second.types[0].count == 4 && second.types[0].rate == 3 && second.types[1].rate == 0)
        let summary = statistics.summary(after: .seconds(4))
        #expect(summary.types[0].type == "event.A" && summary.types[0].rate == 5)
    }

    @Test("The duration of a message is measured, unless the message is older than the statistics")
    func latency() throws {
        var statistics = MonitorStatistics(start: start)
        // The message was published 0.789 s after the start.
        statistics.record(try .fixed("event.A"), at: start.addingTimeInterval(0.799))
        statistics.record(try .fixed("event.Old") { $0.time = start.addingTimeInterval(-1) }, at: start)
        let types = statistics.summary(after: .seconds(1)).types
        let latency = try #require(types.first?.p50)
        #expect(abs(latency - 10) < 0.4)
        #expect(types.last?.p50 == nil && types.last?.p99 == nil)
    }

    @Test("Lost and discarded messages are counted")
    func losses() throws {
        var statistics = MonitorStatistics(start: start)
        let type = MessageType(kind: .event, name: "A")
        statistics.record(.lost(.recovered(type, count: 2)))
        statistics.record(.lost(.recovered(type, count: 1)))
        statistics.record(.lost(.removed(type, through: 9)))
        statistics.record(.discarded(id: "m", reason: "late"))
        statistics.record(try .fixed("event.MessageDiscarded"), at: start)
        let report = statistics.report(after: .seconds(1))
        let row = try #require(report.types.first { $0.type == "event.A" })
        #expect(row.recovered == 3 && row.removedThrough == 9 && row.count == 0)
        #expect(report.discarded == 2)
    }

    @Test("Processes are known until they end, with the metrics that they report")
    func services() throws {
        var statistics = MonitorStatistics(start: start)
        for key in ["b", "a", "a"] {
            let data = #"{"name":"music","version":"1","instance":"\#(key)","pid":1,"receives":[],"sends":[]}"#
            statistics.apply(presence: try .fixed("document.Presence", data) { $0.key = key })
        }
        statistics.apply(presence: try .fixed("document.Presence", "{}") { $0.key = "stranger" })
        for (instance, lag) in [("a", 3), ("a", 4), ("nobody", 5)] as [(String, UInt64)] {
            statistics.apply(metrics: [instance: .init(instance: instance, handled: 1, failed: 0, lag: lag)])
            let services = statistics.summary(after: .seconds(1)).services
            #expect(services.map(\.instance) == ["a", "b"])
            #expect(services.map(\.lag) == [instance == "a" ? lag : nil, nil])
        }
        statistics.apply(presence: try .fixed("document.Presence", "") { $0.key = "b" })
        #expect(statistics.summary(after: .seconds(1)).services.map(\.instance) == ["a"])
    }

    @Test("Any number of invented types takes bounded memory")
    func manyTypes() throws {
        var statistics = MonitorStatistics(start: start)
        for number in 0..<2000 { statistics.record(try .fixed("event.A\(number)"), at: start) }
        let types = statistics.summary(after: .seconds(1)).types
        #expect(types.count == 501 && types.first?.type == "others" && types.first?.count == 1500)
    }
}
