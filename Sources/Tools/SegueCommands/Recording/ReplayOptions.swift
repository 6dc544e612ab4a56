internal import ArgumentParser
internal import Foundation
internal import Monitor

/// What of a recording is told again, and how it is changed.
struct ReplayOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp("Begin at this moment: \(RecordingMoment.forms).", valueName: "moment"),
        transform: RecordingMoment.argument)
    var from: RecordingMoment?

    @Option(
        help: ArgumentHelp("End at this moment, with what stands there; as --from.", valueName: "moment"),
        transform: RecordingMoment.argument)
    var until: RecordingMoment?

    @Option(
        help: ArgumentHelp(
            "inputs (what coordinators and the error notifier said is left to them), all, or types, as in 'command.*'; may be repeated. (default: inputs)",
            valueName: "what"), transform: ReplayPart.argument)
    var only: [ReplayPart] = []

    @Option(
        help: ArgumentHelp(
            "Changes, as in subject:default=test,platform:ios=tv; also device and type.", valueName: "changes"),
        transform: Remapping.argument)
    var remap: Remapping?

    @Flag(help: "Under new ids, the old ones behind a prefix, and at the time of now: a story beside the recorded one.")
    var newIds = false

    var plan: ReplayPlan {
        var plan = ReplayPlan()
        plan.stretch = RecordingStretch(from: from, until: until)
        plan.sendsResults = only.contains(.all)
        plan.types = only.compactMap { part in
            guard case .types(let pattern) = part else { return nil }
            return pattern
        }
        plan.remapping = remap ?? Remapping()
        if newIds { plan.identity = .new(prefix: "\(UUID().uuidString.lowercased().prefix(8))~") }
        return plan
    }
}
