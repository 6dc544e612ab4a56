import EventBus
import Foundation
import HostileValues
import Monitor
import Support
import Testing

@Suite("Recordings with hostile values")
struct HostileRecordingTests {
    @Test("A hostile recording is summarised and replayed, or refused with an error", .timeLimit(.minutes(2)))
    func hostile() async throws {
        let message = try Envelope.recorded("m1", "event.A", at: 1) { $0.expire(after: .seconds(60)) }
        let lines = try RecordingFile.text([message, try .recorded("m2", "event.B", at: 2)], missing: ["event.B": 6])
            .split(separator: "\n").map(String.init)
        for (index, line) in lines.enumerated() {
            for text in try JSONValue(parsing: Data(line.utf8)).hostileTexts() {
                var changed = lines
                changed[index] = text.json
                try await RecordingFile.with(changed.joined(separator: "\n") + "\n") { recording in
                    await read(recording, text)
                }
            }
        }
    }

    private func read(_ recording: Recording, _ text: HostileJSON) async {
        do {
            let summary = try await recording.summary()
            #expect(summary.messages <= 2 && summary.duration >= .zero, "\(text.path) = \(text.value)")
            for start in [RecordingMoment.offset(Position.greatestOffset), .number(.max), .elapsed(.seconds(1))] {
                var plan = ReplayPlan()
                plan.stretch = RecordingStretch(from: start)
                guard let survey = try? await ReplaySurvey(of: recording, plan) else { continue }
                try? await plan.forEachStep(of: recording, survey) { _, _ in }
            }
        } catch let error as RecordingError {
            #expect(!error.message.contains("\n"), "\(text.path) = \(text.value)")
        } catch {
            Issue.record("\(text.path) = \(text.value): \(error)")
        }
    }
}
