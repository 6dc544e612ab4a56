package import EventBus
internal import Foundation

/// Tells a recorded story to the processes of a bus.
///
/// Inputs are sent in the order of the recording. What a coordinator said in between, which others may have heard, is
/// waited for: so the order of the story is the recorded one at any pace.
package struct Replayer: Sendable {
    private let bus: any EventBus
    private let recording: Recording
    private let plan: ReplayPlan
    private let survey: ReplaySurvey
    private let pace: ReplayPace
    private let patience: Duration

    /// - Parameters:
    ///   - survey: of the same recording and plan.
    ///   - patience: how long somebody may take to say what is waited for.
    package init(
        bus: any EventBus, _ recording: Recording, _ plan: ReplayPlan, _ survey: ReplaySurvey, pace: ReplayPace,
        patience: Duration = .seconds(5)
    ) {
        self.bus = bus
        self.recording = recording
        self.plan = plan
        self.survey = survey
        self.pace = pace
        self.patience = patience
    }

    package enum Occurrence: Sendable {
        /// This message comes next; it is sent when the handler returns.
        case next(RecordedMessage, Envelope)
        /// So many are sent by now.
        case sent(Int)
        /// Nobody says this: nothing is waited for any more.
        case unanswered(id: String)
    }

    /// Sends it all, and waits for the last states.
    /// - Throws: ``BusError``, ``RecordingError``, and what `tell` throws.
    package func run(_ tell: @escaping @Sendable (Occurrence) async throws -> Void) async throws {
        try await bus.withSubscription(to: [.all], from: .now) { messages in
            var run = ReplayRun(
                bus: bus, clock: ReplayClock(pace), listener: ResultListener(messages, patience: patience),
                tell: tell)
            try await plan.forEachStep(of: recording, survey) { recorded, step in
                try await run.take(step, recorded)
            }
            try await run.finish()
        }
    }
}

extension ReplayPlan {
    /// Goes through the stretch of a recording that is told again.
    package func forEachStep(
        of recording: Recording, _ survey: ReplaySurvey, _ body: (RecordedMessage, Step) async throws -> Void
    ) async throws {
        var stretch = stretch
        try await recording.readMessages { recorded in
            let place = stretch.place(of: recorded)
            if place == .inside || place == .last { try await body(recorded, step(of: recorded, survey)) }
            return place == .last || place == .behind
        }
    }
}
