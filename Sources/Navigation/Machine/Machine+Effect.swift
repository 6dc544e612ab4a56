extension Machine {
    /// What the host of a machine has to do. That the state has changed in the end shows in the revision.
    public enum Effect: Hashable, Sendable {
        /// Ask the device where the message began to open this absolute URL.
        case openURL(String)
        /// Send this command, with the machine's platform and the device of the message as its attributes.
        case send(type: String, data: JSONValue)
        /// Send this command of a guard on behalf of a screen instance. The answer names its identifier; once nobody waits
        /// for that any more, the command has expired.
        case ask(id: String, type: String, data: JSONValue, instance: String, within: Duration)
        /// Send `event.GuardDeadlinePassed` for this attempt after a while, should it still wait then.
        case expectAnswer(attempt: String, within: Duration)
        /// What follows began where these attributes say, with a message that had to wait: URLs open there.
        case began(Attributes)
        /// Publish this state, to which all since the message or since the last of these has led: what follows leads on.
        case passed(NavigationSnapshot)
        /// Tell the services that this instance is dismissed: work addressed to it ends.
        case screenDismissed(instance: String, screen: String)
        /// Tell everyone that this message came too late or made no sense, so that nothing is lost in silence.
        case messageDiscarded(messageID: String, reason: String)
        /// Tell the person who gave this command that it came too late.
        case commandExpired(messageID: String, type: String)
        /// Send `command.ScreenGone` for this instance after a while, should no view have done so.
        case expectScreenGone(instance: String)
        /// Report that a rule matched, but could not be applied; the state is as before.
        case failed(NavigationFailure)
    }
}
