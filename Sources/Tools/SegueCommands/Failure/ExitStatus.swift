/// How a command ends: the statuses of sysexits.h where they fit. Wrong usage is 64, which the parser gives.
package enum ExitStatus: Int32, Sendable {
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
