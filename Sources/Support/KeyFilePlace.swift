/// The place of the key files of a bus, on which the launcher and the programs agree.
package enum KeyFilePlace {
    /// The variable with the path of a process's key file.
    package static let variable = "SEGUE_BUS_CURVE"
    /// The variable with the path of a user's credentials on NATS, which are used instead of a key file.
    package static let credentialsVariable = "SEGUE_BUS_CREDS"
    /// The variable with the path of the seed of an nkey, which is used instead of a key file.
    package static let nkeyVariable = "SEGUE_BUS_NKEY"
    /// The suffix of the names of key files.
    package static let suffix = ".key"

    /// The path of the key file of a process in the folder of the keys.
    package static func path(of name: String, in folder: String) -> String { "\(folder)/\(name)\(suffix)" }
}
