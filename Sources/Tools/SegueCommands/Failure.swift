internal import Compose
internal import EventBus
internal import Foundation
internal import Monitor
internal import Navigation
internal import Scaffold
internal import Support
internal import SystemPackage

/// The lines that report an error on standard error, and the exit status.
struct Failure: Hashable, Sendable {
    let lines: [String]
    let status: CommandStatus

    /// Nil for an error whose type has no case here, such as an error of the argument parser.
    init?(_ error: any Error) {
        switch error {
        case let error as CommandError:
            (lines, status) = ([error.description], error.status)
        case let errors as CommandErrors:
            (lines, status) = (errors.errors.map(\.description), errors.errors.first?.status ?? .failure)
        case let error as BusError:
            (lines, status) = ([error.message], CommandStatus(of: error))
        case let error as UnsendableDeadLetter:
            (lines, status) = (["\(error.message); \(error.recovery)"], .failure)
        case let error as RecordingError:
            (lines, status) = ([error.description], error.isMissing ? .noInput : .dataError)
        case let error as ComposeFileError:
            (lines, status) = (error.mistakes.map(\.description), .configuration)
        case let error as ScaffoldError:
            (lines, status) = (["\(error.message); \(error.recovery)"], CommandStatus(of: error))
        case let error as FlowError:
            (lines, status) = (error.findings.map(\.description), .configuration)
        case let error as ComposeError:
            let text = error.description.lines
            (lines, status) = (text.map(String.init), CommandStatus(of: error))
        case let error as CocoaError:
            let verb = error.isReadError ? "read" : "written"
            (lines, status) = (
                ["\(error.filePath ?? "a file") cannot be \(verb): \(error.reason)"],
                error.isReadError ? .noInput : .ioError
            )
        default: return nil
        }
    }

    /// The failure of a write to standard output, which throws `Errno`. Nil for an error of another type.
    init?(ofOutput error: any Error) {
        guard let error = error as? Errno else { return nil }
        (lines, status) = (["standard output cannot be written: \(error)"], .ioError)
    }
}

extension CommandStatus {
    fileprivate init(of error: BusError) {
        switch error.code {
        case .unavailable, .unserved, .closed: self = .unavailable
        case .deadline, .cancelled: self = .temporaryFailure
        case .journal: self = .ioError
        case .address, .key: self = .configuration
        case .denied, .forbidden: self = .noPermission
        case .malformed, .refused: self = .dataError
        default: self = .failure
        }
    }

    fileprivate init(of error: ComposeError) {
        switch error.code {
        case "compose-file-unreadable", "environment-file-unreadable", "no-current-folder": self = .noInput
        case "invalid-project-name", "invalid-stack", "unknown-service", "inactive-dependency", "unknown-port",
            "service-environment-file":
            self = .configuration
        case "directory", "export-write", "stack-file", "status-unreadable", "log-file", "lock": self = .ioError
        default: self = .failure
        }
    }
}

extension CommandStatus {
    fileprivate init(of error: ScaffoldError) {
        switch error.cause {
        case .argument: self = .usage
        case .file: self = .noInput
        case .package: self = .failure
        }
    }
}

/// An error that ends a command.
struct CommandError: Error, Hashable, Sendable {
    /// The kind of the error, for programs.
    let code: String
    /// One line: what is wrong, and where.
    let message: String
    /// The suggested remedy. Nil if there is none.
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
    /// The message and the remedy. An app's error has sentences, other errors have phrases.
    var description: String {
        recovery.map { "\(message)\(message.ends(with: ".") ? "" : ";") \($0)" } ?? message
    }
}

/// Several errors that end a command together; each is reported on a line of its own.
struct CommandErrors: Error, Hashable, Sendable {
    let errors: [CommandError]
}

/// The exit statuses of failed commands. The values are from sysexits.h where it has a suitable status.
/// docs/commands.md lists all exit statuses.
enum CommandStatus: Int32, CaseIterable, Sendable {
    /// The command ran, and its result is negative; or an error that no other status fits.
    case failure = 1
    /// The command line is invalid. The parser uses the same status.
    case usage = 64
    /// Data that was given to the command is invalid, or the bus refuses a request.
    case dataError = 65
    /// An input file does not exist or cannot be read.
    case noInput = 66
    /// No broker answers, the bus is closed, no process serves the query, or a program that the command needs cannot be
    /// found or started.
    case unavailable = 69
    /// Output cannot be written, or the journal or a file of the project cannot be read or written.
    case ioError = 74
    /// An expected message or answer did not arrive in time, or a request was cancelled. The same command may succeed
    /// later.
    case temporaryFailure = 75
    /// The broker does not accept the key of this process.
    case noPermission = 77
    /// A compose file, a flow, a bus address, a key file, or the name of a project, service or port is invalid.
    case configuration = 78
}

extension CocoaError {
    /// True if the file could not be read, false if it could not be written.
    fileprivate var isReadError: Bool {
        [
            .fileReadNoSuchFile, .fileReadNoPermission, .fileReadUnknown, .fileReadCorruptFile,
            .fileReadInapplicableStringEncoding, .fileReadInvalidFileName, .fileReadTooLarge,
            .fileReadUnsupportedScheme, .fileReadUnknownStringEncoding,
        ].contains(code)
    }

    /// The system's message for this error, such as "Permission denied".
    var reason: String {
        guard let cause = underlying as NSError?, cause.domain == NSPOSIXErrorDomain else {
            return localizedDescription
        }
        return "\(Errno(rawValue: CInt(cause.code)))"
    }
}
