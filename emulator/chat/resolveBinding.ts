import type { Account, Caller } from '../accounts';
import { HttpError } from '../errors';
import type { EmulatedService } from '../service';
import { APPS, type App } from './apps';
import { EMULATED_CHAT_MODELS, DEFAULT_CHAT_MODEL, type EmulatedChatModel } from './models';
import type { ChatBody } from './requestSchema';

/** Model of a request, and the application, workflow or super assistant it is bound to. */
export interface Binding {
	readonly model: EmulatedChatModel;
	readonly app?: App;
}

function findModel(code: string): EmulatedChatModel {
	const model = EMULATED_CHAT_MODELS.find((row) => row.code === code);
	if (!model) throw new HttpError(400, `model: unknown chat model ${code}`);
	return model;
}

function findApp(
	code: string,
	{ name: caller }: Account,
	{ appRateLimits: busyApps, clock }: EmulatedService,
): App {
	const app = APPS.find((row) => row.code === code);
	if (!app) throw new HttpError(402, `The application ${code} does not exist.`);
	if (app.onlyFor !== undefined && app.onlyFor !== caller) {
		const message = 'No access: only its creator can call an unpublished application.';
		throw new HttpError(403, message);
	}
	const waitMs = app.access === 'rateLimited' ? busyApps.waitMs(code, clock.now()) : 0;
	if (waitMs > 0) {
		const message = 'The call-frequency limit of the application is exceeded. Retry later.';
		throw new HttpError(429, message, { 'retry-after': String(Math.ceil(waitMs / 1000)) });
	}
	return app;
}

/**
 * Resolves `model` and the application of `app_code` or, without that, of the key (spec 2.1, 4).
 * @throws HttpError 400 unknown model, 402 unknown application, 403 not the creator's account, 429 rate-limited
 */
export function resolveBinding(
	{ app_code, model: modelCode }: Pick<ChatBody, 'app_code' | 'model'>,
	caller: Caller,
	service: EmulatedService,
): Binding {
	const appCode = app_code ?? caller.appCode;
	if (!appCode) return { model: findModel(modelCode ?? DEFAULT_CHAT_MODEL) };

	const app = findApp(appCode, caller.account, service);
	const chosen = app.kind === 'assistant' ? undefined : modelCode;
	return { app, model: findModel(chosen ?? app.model) };
}
