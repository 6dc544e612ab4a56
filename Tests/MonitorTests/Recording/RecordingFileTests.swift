import EventBus
import Foundation
import Monitor
import Testing

@Suite("Recording files")
struct RecordingFileTests {
    private func messages(_ offsets: [UInt64]) throws -> [Envelope] {
        try offsets.map { try .recorded("m\($0)", $0 == 1 ? "event.A" : "event.B", at: $0, after: Double($0)) }
    }

    @Test("The summary of a recording has its content")
    func whole() async throws {
        let text = try RecordingFile.text(try messages([1, 2, 3]))
        let summary = try await RecordingFile.with(text) { try await $0.summary() }
        #expect(summary.completeness == .whole)
        #expect(summary.messages == 3 && summary.types == ["event.A": 1, "event.B": 2])
        #expect(summary.subjects == ["default": 3] && summary.sources == ["device/1": 3])
        #expect(summary.duration == .seconds(2) && summary.missing == [:] && summary.journalCount == 1)
    }

    @Test("The messages that the recorder missed are counted, and gaps in the offsets are not")
    func missing() async throws {
        let messages = try messages([7, 5, 1, 2, 8])
        for missing in [[:], ["event.B": 6]] as [[String: UInt64]] {
            let text = try RecordingFile.text(messages, missing: missing)
            #expect(try await RecordingFile.with(text) { try await $0.summary() }.missing == missing)
        }
        let text = try RecordingFile.text(messages).replacing(#""missing":{},"#, with: "")
        let earlier = try await RecordingFile.with(text) { try await $0.summary() }
        #expect(earlier.missing == nil && earlier.completeness == .whole)
    }

    @Test("A recording whose recorder was killed is read up to the incomplete line")
    func cutOff() async throws {
        let lines = try RecordingFile.text(try messages([1, 2, 3])).split(separator: "\n")
        let text = lines[0..<3].map { "\($0)\n" }.joined() + lines[3].prefix(40)
        try await RecordingFile.with(text) { recording in
            let summary = try await recording.summary()
            #expect(summary.completeness == .cutOff && summary.cutOffLine == 4 && summary.messages == 2)
            var ids: [String] = []
            try await recording.readMessages {
                ids.append($0.message.id)
                return false
            }
            #expect(ids == ["m1", "m2"])
        }
        let unended = lines[0..<3].map { "\($0)\n" }.joined()
        #expect(try await RecordingFile.with(unended) { try await $0.summary() }.completeness == .cutOff)
    }

    @Test("Each invalid line is reported, and a reader that needs all messages gets none after it")
    func mistakes() async throws {
        var lines = try RecordingFile.text(try messages([1, 2])).split(separator: "\n").map(String.init)
        lines.insert("{}", at: 2)
        lines.insert("", at: 3)
        lines.insert("neither", at: 4)
        try await RecordingFile.with(lines.joined(separator: "\n") + "\n") { recording in
            let summary = try await recording.summary()
            #expect(summary.completeness == .damaged)
            #expect(summary.mistakes.map(\.line) == [3, 5] && summary.messages == 2)
            let error = await #expect(throws: RecordingError.self) {
                try await recording.readMessages { _ in false }
            }
            #expect(error?.message.hasPrefix("\(recording.name):3: this is not a message") == true)
        }
    }

    @Test("The output of a monitor is a recording whose completeness is unknown")
    func monitor() async throws {
        let text = try messages([1, 2]).map(CloudEventFormat.line).joined(separator: "\n")
        let summary = try await RecordingFile.with(text) { try await $0.summary() }
        #expect(summary.completeness == .unknown && summary.messages == 2 && summary.missing == nil)
    }

    @Test("A missing file, a later version or an excessive line is refused")
    func refused() async throws {
        for (text, code) in [
            (#"{"segue":"recording","version":2}"#, "recording.version"),
            (String(repeating: "x", count: 17 << 20), "recording.line"),
        ] {
            let error = await #expect(throws: RecordingError.self) {
                try await RecordingFile.with(text) { try await $0.summary() }
            }
            #expect(error?.code == code)
        }
        let missing = await #expect(throws: RecordingError.self) { try await Recording(path: "/nowhere").summary() }
        #expect(missing?.isMissing == true && missing?.message == "there is no file /nowhere")
    }

    @Test(
        "A part of a recording begins and ends with the given messages",
        arguments: [
            (nil, nil, [1, 2, 3, 4]), (.number(2), .number(3), [2, 3]), (.offset(13), nil, [3, 4]),
            (nil, .offset(12), [1, 2]), (.elapsed(.seconds(1)), .elapsed(.seconds(2)), [2, 3]),
            (.id("m2"), .id("m3"), [2, 3]), (.number(3), .number(2), []), (.elapsed(.milliseconds(1500)), nil, [3, 4]),
            (.time(Date(timeIntervalSince1970: 1_772_368_496.789 + 2)), nil, [3, 4]),
        ] as [(RecordingMoment?, RecordingMoment?, [Int])])
    func stretch(from: RecordingMoment?, until: RecordingMoment?, expected: [Int]) throws {
        var stretch = RecordingStretch(from: from, until: until)
        let numbers = try (1...4).filter { number in
            let message = try Envelope.recorded(
                "m\(number)", "event.A", at: UInt64(number + 10), after: Double(number - 1))
            let place = stretch.place(of: RecordedMessage(number: number, line: number + 1, message))
            return place == .inside || place == .last
        }
        #expect(numbers == expected)
        #expect(stretch.missing == nil)
    }

    @Test("A message that is not in the recording is reported")
    func missing() throws {
        var stretch = RecordingStretch(from: .id("m2"), until: .id("m9"))
        let message = try Envelope.recorded("m1", "event.A", at: 1)
        _ = stretch.place(of: RecordedMessage(number: 1, line: 2, message))
        #expect(stretch.missing == .id("m2"))
        _ = stretch.place(of: RecordedMessage(number: 2, line: 3, try .recorded("m2", "event.A", at: 2)))
        #expect(stretch.missing == .id("m9"))
    }
}
