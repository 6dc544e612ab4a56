internal import Compose
internal import EventBus
internal import Foundation
internal import Monitor
internal import Navigation
internal import Scaffold
internal import SystemPackage

/// What a person is told of an error, and what a script is. The one place where errors become exit statuses.
struct Failure: Hashable, Sendable {
    let lines: [String]
    let status: CommandStatus

    /// - Returns: `nil` for an error that is not of this project, such as the parser's own.
    init?(_ error: any Error) {
        switch error {
        case let error as CommandError:
            (lines, status) = ([error.description], error.status)
        case let errors as CommandErrors:
            (lines, status) = (errors.errors.map(\.description), errors.errors.first?.status ?? .failure)
        case let error as BusError:
            (lines, status) = ([error.message], CommandStatus(of: error))
        case let error as RecordingError:
            (lines, status) = ([error.description], error.isMissing ? .noInput : .dataError)
        case let error as ComposeFileError:
            (lines, status) = (error.mistakes.map(\.description), .configuration)
        case let error as ScaffoldError:
            (lines, status) = (["\(error.message); \(error.recovery)"], .failure)
        case let error as FlowError:
            (lines, status) = (error.findings.map(\.description), .configuration)
        case let error as ComposeError:
            let text = error.description.split(separator: "\n", omittingEmptySubsequences: false)
            (lines, status) = (text.map(String.init), CommandStatus(of: error))
        case let error as CocoaError:
            (lines, status) = (["\(error.filePath ?? "a file") cannot be used: \(error.reason)"], .ioError)
        default: return nil
        }
    }

    /// - Returns: `nil` unless standard output could not be written. What opens other files says which, and why.
    init?(ofOutput error: any Error) {
        guard let error = error as? Errno else { return nil }
        (lines, status) = (["standard output cannot be written: \(error)"], .ioError)
    }
}

extension CommandStatus {
    fileprivate init(of error: BusError) {
        switch error.code {
        case .unavailable, .unserved: self = .unavailable
        case .deadline, .cancelled: self = .temporaryFailure
        case .journal: self = .ioError
        case .address: self = .configuration
        case .malformed, .refused: self = .dataError
        default: self = .software
        }
    }

    fileprivate init(of error: ComposeError) {
        switch error.code {
        case "compose-file-unreadable", "environment-file-unreadable": self = .noInput
        case "invalid-project-name", "unknown-service", "inactive-dependency": self = .configuration
        default: self = .failure
        }
    }
}

/// Why a command of the command line cannot do what it was asked for.
struct CommandError: Error, Hashable, Sendable {
    /// Stable, for programs.
    let code: String
    /// One line: what is wrong, and where.
    let message: String
    /// What to do about it.
    let recovery: String?
    let status: CommandStatus

    init(code: String, _ message: String, recovery: String? = nil, status: CommandStatus = .failure) {
        self.code = code
        self.message = message
        self.recovery = recovery
        self.status = status
    }
}

extension CommandError: CustomStringConvertible {
    var description: String { recovery.map { "\(message); \($0)" } ?? message }
}

/// Why a command cannot do what it was asked for, in several places at once: a line each.
struct CommandErrors: Error, Hashable, Sendable {
    let errors: [CommandError]
}

/// How a command ends: the statuses of sysexits.h where they fit. Wrong usage is 64, which the parser gives.
enum CommandStatus: Int32, Sendable {
    case failure = 1
    /// What was given is not what it should be.
    case dataError = 65
    /// A file that was to be read cannot be.
    case noInput = 66
    /// Nobody serves the bus, or the query; a program is not installed.
    case unavailable = 69
    case software = 70
    /// The journal cannot be written or read.
    case ioError = 74
    /// It did not come in time, or was stopped: it may well work the next time.
    case temporaryFailure = 75
    /// A setting or a file cannot be used as it is.
    case configuration = 78
}

extension CocoaError {
    /// Why a file cannot be read or written, in the system's words: Foundation's own are a domain and a number here.
    var reason: String {
        guard let cause = underlying as NSError?, cause.domain == NSPOSIXErrorDomain else {
            return localizedDescription
        }
        return "\(Errno(rawValue: CInt(cause.code)))"
    }
}
