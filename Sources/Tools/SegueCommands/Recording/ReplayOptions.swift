internal import ArgumentParser
internal import Foundation
internal import Monitor

/// What of a recording is told again, and how it is changed.
struct ReplayOptions: ParsableArguments, Sendable {
    @Option(help: ArgumentHelp("Begin with this message: \(RecordingMoment.forms).", valueName: "moment"))
    var from: RecordingMoment?

    @Option(help: ArgumentHelp("End with this message; as --from.", valueName: "moment"))
    var until: RecordingMoment?

    @Option(
        help: ArgumentHelp(
            "inputs (what coordinators and the error notifier said is left to them), all, or types, as in 'command.*'; may be repeated. (default: inputs)",
            valueName: "what"))
    var only: [ReplayPart] = []

    @Option(
        help: ArgumentHelp(
            "Changes, as in subject:default=test,platform:ios=tv; also device and type.", valueName: "changes"))
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

/// A word of `--only`.
enum ReplayPart: Hashable, Sendable, ExpressibleByArgument {
    case inputs, all
    case types(MessagePattern)

    init?(argument: String) {
        switch argument {
        case "inputs": self = .inputs
        case "all": self = .all
        default:
            guard let pattern = MessagePattern(argument) else { return nil }
            self = .types(pattern)
        }
    }
}

extension Remapping: ExpressibleByArgument {
    package init?(argument: String) {
        let changes = argument.split(separator: ",").map { Change($0) }
        guard !changes.isEmpty, changes.allSatisfy({ $0 != nil }) else { return nil }
        self.init(changes.compactMap(\.self))
    }
}

extension ReplayPace: ExpressibleByArgument {
    package init?(argument: String) {
        if argument == "max" {
            self = .fastest
        } else if let speed = Double(argument), speed > 0, speed.isFinite {
            self = .speed(speed)
        } else {
            return nil
        }
    }

    package var defaultValueDescription: String {
        switch self {
        case .speed(let speed): "\(speed)"
        case .fastest: "max"
        case .stepwise: "step"
        }
    }
}
