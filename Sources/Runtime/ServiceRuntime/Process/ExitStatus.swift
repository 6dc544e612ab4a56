internal import ArgumentParser
internal import EventBus

/// How a process ends: the statuses of sysexits.h, so that a supervisor can tell what a restart cannot mend.
enum ExitStatus: Int32 {
    case unavailable = 69
    case software = 70
    /// The journal cannot be written or read.
    case ioError = 74
    case configuration = 78
}

extension ExitStatus {
    init(of error: any Error) {
        switch error {
        case is ConfigurationError, is ConfigurationErrors: self = .configuration
        case let error as BusError where error.code == .address: self = .configuration
        case let error as BusError where error.code == .unavailable: self = .unavailable
        case let error as BusError where error.code == .journal: self = .ioError
        default: self = .software
        }
    }

    var exitCode: ExitCode { ExitCode(rawValue) }
}
