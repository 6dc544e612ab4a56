internal import ArgumentParser
package import Monitor

extension MonitorEnd: FormedArgument {
    package static let forms = "end, \(MonitorStart.places)"

    package init?(argument: String) {
        switch MonitorStart(argument: argument) {
        case .offset(let offset): self = .offset(offset)
        case .time(let time): self = .time(time)
        case .ago(let duration): self = .ago(duration)
        default:
            guard argument == "end" else { return nil }
            self = .end
        }
    }
}
